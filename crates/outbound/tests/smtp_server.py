"""A real SMTP server (aiosmtpd) on a free port of loopback, for tests/mail.

It writes one JSON object on each line of its standard output: first its port, then every login,
every recipient it was asked about and every mail it took. It ends when its standard input does.
"""

import argparse
import asyncio
import email
import email.policy
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


def tell(**event):
    print(json.dumps(event), flush=True)


class Handler:
    def __init__(self, options):
        self.options = options
        self.asked = 0

    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        self.asked += 1
        tell(event="recipient", address=address, encrypted=session.ssl is not None)
        if self.options.refuse:
            return f"550 5.1.1 <{address}>: no such user"
        if self.asked <= self.options.put_off:
            return "451 4.7.1 come back later"
        if self.options.hang:
            await asyncio.sleep(3600)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        tell(
            event="mail",
            sender=envelope.mail_from,
            recipients=envelope.rcpt_tos,
            headers={name: str(value) for name, value in message.items()},
            text=message.get_content().replace("\r\n", "\n"),
            encrypted=session.ssl is not None,
            user=session.auth_data,
            hello=session.host_name,
        )
        return "250 OK"

    def authenticate(self, server, session, envelope, mechanism, data):
        given = f"{data.login.decode()}:{data.password.decode()}"
        tell(event="login", mechanism=mechanism)
        if given != self.options.login:
            return AuthResult(success=False, handled=False)
        return AuthResult(success=True, auth_data=data.login.decode())


def protocol(options, context):
    def make():
        login = {}
        if options.login:
            login = {
                "authenticator": handler.authenticate,
                "auth_required": True,
                "auth_require_tls": False,
            }
        start_tls = context if options.starttls else None
        return SMTP(handler, tls_context=start_tls, hostname="mail.example", **login)

    handler = Handler(options)
    return make


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="this port instead of a free one")
    parser.add_argument("--refuse", action="store_true", help="refuse every recipient with 550")
    parser.add_argument("--put-off", type=int, default=0, help="answer so many times with 451")
    parser.add_argument("--hang", action="store_true", help="never answer to a recipient")
    parser.add_argument("--login", help="USER:PASSWORD that is asked for")
    parser.add_argument("--starttls", action="store_true", help="offer STARTTLS")
    parser.add_argument("--implicit", action="store_true", help="TLS from the first byte")
    parser.add_argument("--certificate", help="PEM file with certificate and key")
    options = parser.parse_args()

    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        protocol(options, context),
        "127.0.0.1",
        options.port,
        ssl=context if options.implicit else None,
    )
    tell(event="ready", port=server.sockets[0].getsockname()[1])
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
