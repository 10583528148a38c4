"""What is said of a host whose own key is not revoked, but its certificate or the authority that signed it?"""

from __future__ import annotations

from gpulease_gui.domain.node import HostKey
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.failures import HostKeyRevoked


def authority_revoked(host_port: str, authority: HostKey, place: str) -> HostKeyRevoked:
    """`place`: the line, or the list, that says so."""
    shown = f"{authority.kind} {authority.fingerprint}"
    return _told(
        HostKeyRevoked(host_port, authority, place),
        Text(f"the authority {shown}, which signed the host's certificate, is marked @revoked in {place}", f"签发主机证书的 CA {shown} 已在 {place} 标记为 @revoked"),
        Text("do not connect; whoever runs the authority has to name the new one, and the host needs a certificate of that",
             "请勿连接；请向 CA 的管理者索取新的 CA，并由其为主机重新签发证书"),
    )  # fmt: skip


def certificate_revoked(host_port: str, certificate: HostKey, place: str) -> HostKeyRevoked:
    """`certificate`: as a file of keys names it; `place`: the line, or the list, that says so."""
    shown = f"{certificate.kind} {certificate.fingerprint}"
    return _told(
        HostKeyRevoked(host_port, certificate, place),
        Text(f"the host's certificate {shown} is marked @revoked in {place}", f"主机证书 {shown} 已在 {place} 标记为 @revoked"),
        Text("do not connect; ask the supplier for a new key of the host with a new certificate", "请勿连接；要求供应商更换主机密钥并重新签发证书"),
    )


def _told(error: HostKeyRevoked, why: Text, step: Text) -> HostKeyRevoked:
    error.why_text, error.next_text, error.why = why, step, why.en
    return error
