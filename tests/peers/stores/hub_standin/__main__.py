"""Loopback stand-in for the Hugging Face Hub's bucket API, in front of a real Xet CAS server.

Three listeners on 127.0.0.1, so that the rules between hosts can be tested:
  hub  the bucket API (/api/buckets/..., /buckets/.../resolve/...): wants `Authorization: Bearer TOKEN`
  cas  the Xet CAS API: wants the short-lived token that the hub gave out, refuses the hub's token
  cdn  signed URLs (ranges of xorbs, upload grants, plain files): refuses any request with Authorization
CAS and CDN requests are passed on to `local_cas_server` of the crate xet-client; what it answers is made as strict as
the documented API, and the URLs in it point to the cdn listener and expire.

Prints one NAME=value line per address when ready, then runs until it is terminated. Its requests and the form of its
replies are those that huggingface_hub 2.4 and hf_xet 1.8 use; README.md says what is guessed.
"""

import argparse
import signal
import threading
from http.server import ThreadingHTTPServer

from cas_api import CasHandler, CdnHandler
from hub_api import HubHandler
from state import Standin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", required=True, help="URL of local_cas_server")
    parser.add_argument("--token", default="hf_test", help="the only Hub token that is accepted")
    parser.add_argument("--user", default="tester", help="name behind the namespace 'me'")
    parser.add_argument("--page-size", type=int, default=1000, help="most entries on one page of a listing")
    parser.add_argument("--token-life", type=float, default=900, help="seconds a Xet token lives")
    parser.add_argument("--url-life", type=float, default=900, help="seconds a signed URL lives")
    parser.add_argument("--no-grants", dest="grants", action="store_false", help="answer 404 to /v1/xorb-grants")
    for side in ("hub", "cas", "cdn"):
        parser.add_argument(f"--{side}-url", help=f"what replies call the {side} listener: a proxy in front of it")
    options = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})  # for sigwait below; before any thread

    standin = Standin(options)
    for handler in (HubHandler, CasHandler, CdnHandler):
        handler.standin = standin
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        listener = f"http://127.0.0.1:{server.server_address[1]}"
        setattr(standin, handler.side, getattr(options, f"{handler.side}_url") or listener)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"{handler.side.upper()}={listener}")
    print("READY=yes", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
