"""The close button of the windows on a screen, by libX11: what a window manager would draw."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p

CLIENT_MESSAGE = 33  # an event's type
BITS = 32  # of each value in a client message


class ClientMessage(ctypes.Structure):
    """XClientMessageEvent, padded to the size of an XEvent."""

    _fields_ = (
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("window", c_ulong),
        ("message_type", c_ulong),
        ("format", c_int),
        ("data", c_long * 5),
        ("padding", c_long * 12),
    )


def close_windows(display: str) -> int:
    """Press the close button of every window, as a window manager does; how many there were."""
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.argtypes, x11.XOpenDisplay.restype = [c_char_p], c_void_p
    x11.XDefaultRootWindow.argtypes, x11.XDefaultRootWindow.restype = [c_void_p], c_ulong
    x11.XInternAtom.argtypes, x11.XInternAtom.restype = [c_void_p, c_char_p, c_int], c_ulong
    x11.XSync.argtypes = [c_void_p, c_int]
    x11.XCloseDisplay.argtypes = [c_void_p]
    connection = x11.XOpenDisplay(display.encode())
    assert connection, f"no display {display}"
    try:
        protocols = x11.XInternAtom(connection, b"WM_PROTOCOLS", 0)
        delete = x11.XInternAtom(connection, b"WM_DELETE_WINDOW", 0)
        found = top_windows(x11, connection)
        windows = [window for window in found if is_managed(x11, connection, window)]
        for window in windows:
            event = ClientMessage(type=CLIENT_MESSAGE, window=window, format=BITS)
            event.message_type = protocols
            event.data[0] = delete
            x11.XSendEvent(c_void_p(connection), c_ulong(window), 0, c_long(0), byref(event))
        x11.XSync(connection, 0)
        return len(windows)
    finally:
        x11.XCloseDisplay(connection)


def top_windows(x11: ctypes.CDLL, connection: int) -> list[int]:
    """The windows directly on the screen."""
    root, parent, number = c_ulong(), c_ulong(), c_uint()
    found = POINTER(c_ulong)()
    x11.XQueryTree(
        c_void_p(connection),
        c_ulong(x11.XDefaultRootWindow(connection)),
        byref(root),
        byref(parent),
        byref(found),
        byref(number),
    )
    return [found[place] for place in range(number.value)]


def is_managed(x11: ctypes.CDLL, connection: int, window: int) -> bool:
    """Whether a window takes the messages of a window manager."""
    protocols, number = POINTER(c_ulong)(), c_int()
    return bool(
        x11.XGetWMProtocols(c_void_p(connection), c_ulong(window), byref(protocols), byref(number))
    )
