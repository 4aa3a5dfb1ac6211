"""The client: one instance per account, operations grouped as in the API reference.

Parameters and results have the names of the API reference. A parameter that is None is not sent.
"""

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .transport import CallOptions, Transport

Result = Dict[str, Any]
Options = Optional[CallOptions]

_SHORTLINK = "/api/shortlink_api.php"
_SMS = "/api/sms_api.php"
_IDENTITY = "/api/id_verification_api.php"
_DOMAINS = "/api/video_platform_check.php"


class Tollgate:
    """Calls the service for one account.

    >>> tollgate = Tollgate("https://api.example.com", "demo", api_key)
    >>> tollgate.shortlink.generate(target_url="https://example.com/landing", title="Landing page")["a_url"]
    """

    def __init__(
        self,
        base_url: str,
        username: str,
        api_key: str,
        timeout: float = 30.0,
        retries: int = 2,
        max_wait: float = 10.0,
        language: str = "zh",
    ) -> None:
        """timeout: seconds of one attempt. retries: after a timeout, a lost connection, 409, 429, 500 or 503.
        max_wait: if the service requires a longer wait, in seconds, the error is raised instead. language: zh or en."""
        for name, value in (("base_url", base_url), ("username", username), ("api_key", api_key)):
            if not isinstance(value, str) or value == "":
                raise ValueError("%s is missing" % name)
        if not base_url.startswith(("http://", "https://")):
            raise ValueError("base_url must begin with http:// or https://")
        if not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise ValueError("api_key has a space, a line break or another character that no key contains")
        caller = _Caller(Transport(base_url, api_key, timeout, retries, max_wait, language), username)
        self.shortlink = ShortLinks(caller)
        self.sms = Sms(caller)
        self.identity = Identity(caller)
        self.domains = Domains(caller)


class _Caller:
    def __init__(self, transport: Transport, username: str) -> None:
        self._transport = transport
        self._username = username

    def body(
        self,
        path: str,
        values: Mapping[str, Any],
        paid: bool,
        options: Options,
        required: Sequence[str] = ("data",),
    ) -> Result:
        sent = {name: value for name, value in values.items() if value is not None}
        return self._transport.call(path, sent, paid, options, required)

    def page(
        self, path: str, action: str, values: Mapping[str, Any], paid: bool, options: Options
    ) -> Result:
        return self.body(path, {"username": self._username, "action": action, **values}, paid, options)

    def data(
        self, path: str, action: str, values: Mapping[str, Any], paid: bool, options: Options
    ) -> Any:
        return self.page(path, action, values, paid, options)["data"]

    def check(self, values: Mapping[str, Any], options: Options) -> Any:
        return self.body(_DOMAINS, {"username": self._username, **values}, True, options)["data"]


class ShortLinks:
    """Short links. ``link`` parameters: one of link_id, short_code and external_id."""

    def __init__(self, caller: _Caller) -> None:
        self._caller = caller

    def _call(self, action: str, values: Mapping[str, Any], paid: bool, options: Options) -> Result:
        result: Result = self._caller.data(_SHORTLINK, action, values, paid, options)
        return result

    def generate(
        self, target_url: str, title: str, *, options: Options = None, **parameters: Any
    ) -> Result:
        """Creates a link. Costs short link credits."""
        return self._call("generate", {"target_url": target_url, "title": title, **parameters}, True, options)

    def generate_batch(
        self, links: Sequence[Mapping[str, Any]], *, options: Options = None
    ) -> Result:
        """Creates 1 to 100 links, all or none. Costs short link credits."""
        return self._call("generate_batch", {"links": list(links)}, True, options)

    def update(
        self, link_id: int, target_url: str, *, options: Options = None, **parameters: Any
    ) -> Result:
        """Changes a link. Free."""
        return self._call("update", {"link_id": link_id, "target_url": target_url, **parameters}, False, options)

    def execute_update(
        self, link_id: int, *, short_code: Optional[str] = None, options: Options = None
    ) -> Result:
        """Gives the link a new code and new addresses. Costs short link credits."""
        return self._call("execute_update", {"link_id": link_id, "short_code": short_code}, True, options)

    def get(self, *, options: Options = None, **link: Any) -> Result:
        """Returns a link with its clicks. Free."""
        return self._call("get", link, False, options)

    def list(self, *, options: Options = None, **filters: Any) -> Result:
        """Returns ``links``, newest first, and ``next_cursor``. Filters: tag, state, q, limit, cursor. Free."""
        return self._call("list", filters, False, options)

    def stats(self, *, options: Options = None, **parameters: Any) -> Result:
        """Returns the clicks of a link or a tag: link or tag, start_date, end_date, by. Free."""
        return self._call("stats", parameters, False, options)

    def pause(self, *, options: Options = None, **link: Any) -> Result:
        """Stops a link: it answers 410 until it is resumed. Free."""
        return self._call("pause", link, False, options)

    def resume(self, *, options: Options = None, **link: Any) -> Result:
        """Resumes a paused link. Free."""
        return self._call("resume", link, False, options)

    def delete(self, *, options: Options = None, **link: Any) -> Result:
        """Deletes a link permanently. Free."""
        return self._call("delete", link, False, options)


class Sms:
    """Template SMS, and the credit balances of all products."""

    def __init__(self, caller: _Caller) -> None:
        self._caller = caller

    def _call(self, action: str, values: Mapping[str, Any], paid: bool, options: Options) -> Any:
        return self._caller.data(_SMS, action, values, paid, options)

    def send(
        self,
        phone_number: str,
        template_code: str,
        template_params: Optional[Mapping[str, Union[str, int]]] = None,
        sign_name: Optional[str] = None,
        *,
        options: Options = None,
    ) -> Result:
        """Sends a message. Costs SMS credits for each billed part."""
        values = {
            "phone_number": phone_number,
            "template_code": template_code,
            "template_params": template_params,
            "sign_name": sign_name,
        }
        result: Result = self._call("send_sms", values, True, options)
        return result

    def send_batch(self, template_code: str, *, options: Options = None, **parameters: Any) -> Result:
        """Sends 1 to 1,000 messages: phone_numbers with template_params, or messages; sign_name, send_at. Costs credits."""
        result: Result = self._call("send_batch", {"template_code": template_code, **parameters}, True, options)
        return result

    def get_batch(self, batch_id: str, *, options: Options = None, **page: Any) -> Result:
        """Returns the progress of a batch and a page of its messages. Free."""
        result: Result = self._call("get_batch", {"batch_id": batch_id, **page}, False, options)
        return result

    def cancel_batch(self, batch_id: str, *, options: Options = None) -> Result:
        """Cancels what has not started; its credits come back. Free."""
        result: Result = self._call("cancel_batch", {"batch_id": batch_id}, False, options)
        return result

    def send_code(
        self, phone_number: str, template_code: str, *, options: Options = None, **parameters: Any
    ) -> Result:
        """Sends a verification code that the service makes: sign_name, length, ttl_s, purpose. Costs SMS credits."""
        values = {"phone_number": phone_number, "template_code": template_code, **parameters}
        result: Result = self._call("send_code", values, True, options)
        return result

    def check_code(
        self, phone_number: str, code: str, purpose: Optional[str] = None, *, options: Options = None
    ) -> Result:
        """Checks a verification code: verified, attempts_left. Single use. Free."""
        values = {"phone_number": phone_number, "code": code, "purpose": purpose}
        result: Result = self._call("check_code", values, False, options)
        return result

    def templates(self, *, options: Options = None) -> List[Result]:
        """Returns the templates. Free."""
        result: List[Result] = self._call("get_templates", {}, False, options)
        return result

    def signatures(self, *, options: Options = None) -> List[Result]:
        """Returns the signatures. Free."""
        result: List[Result] = self._call("get_signatures", {}, False, options)
        return result

    def credits(self, api_type: Optional[str] = None, *, options: Options = None) -> Result:
        """Returns a credit balance. Free."""
        result: Result = self._call("get_credits", {"api_type": api_type}, False, options)
        return result

    def logs(self, *, options: Options = None, **filters: Any) -> Result:
        """Returns ``data``, the latest send records, and ``next_cursor`` if limit or cursor was given.
        Filters: biz_id, phone_number, start_date, end_date. Free."""
        return self._caller.page(_SMS, "get_status", filters, False, options)

    def replies(self, *, options: Options = None, **filters: Any) -> Result:
        """Returns ``data``, the latest replies, and ``next_cursor``. Filters: phone_number, start_date, end_date. Free."""
        return self._caller.page(_SMS, "get_replies", filters, False, options)


class Identity:
    """Identity verification."""

    def __init__(self, caller: _Caller) -> None:
        self._caller = caller

    def verify(self, name: str, idcard: str, *, options: Options = None) -> Result:
        """Checks whether name and number match. Costs a credit, which is refunded if there is no result."""
        person = {"name": name, "idcard": idcard}
        return self._caller.body(_IDENTITY, person, True, options, ("success", "matched"))


class Domains:
    """Domain block check."""

    def __init__(self, caller: _Caller) -> None:
        self._caller = caller

    def check(
        self, urls: Sequence[str], check_random: Optional[bool] = None, *, options: Options = None
    ) -> Result:
        """Checks which URLs are blocked. Costs a credit for each item; failed items are refunded."""
        if isinstance(urls, (str, bytes)):
            # As a sequence it would be one URL for each character.
            raise TypeError("urls must be a list of URLs")
        result: Result = self._caller.check({"urls": list(urls), "check_random": check_random}, options)
        return result
