import Glibc

/// What `init` writes. Every value shown is the default; a line that is not commented out differs.
enum StandardFiles {
    /// 0 stays any free port.
    static func httpPort(portBase: Int) -> Int { portBase == 0 ? 0 : portBase + 2 }

    static func configuration(portBase: Int) -> String {
        let ports =
            portBase == 0 ? "any free ports" : "\(portBase), \(portBase + 1), \(portBase + 2)"
        let httpPort = httpPort(portBase: portBase)
        return """
            # FusionBus. Every daemon reads its own section; --print-config shows what is in effect, and
            # --check-config says what is wrong. A value here yields to FUSION_<SECTION>_<FIELD> and to
            # --set section.field=value.

            # true keeps the sandbox out. No SMS provider for real numbers is built in: Services/SMSCode/README.md.
            production = false

            [daemon]
            # logLevel = "info"            # debug, info, warning, error
            # logFileBytesMax = 67108864   # then the file becomes .1
            # drainSecondsMax = 10         # a drain may take so long

            [bus]
            # Empty: the broker of this home, over ipc. Elsewhere: one table for each broker, and the file
            # that `fusionctl peer add NAME --role service --out FILE` made there.
            # brokers = [{ endpoint = "tcp://10.0.0.5:5570", key = "<40 characters of Z85>" }]
            # peerFile = ""
            # creditMax = 64               # requests that one worker takes at once

            [store]
            # queueCountMax = 8192         # decisions that may wait; one more is overloaded
            # groupCountMax = 256          # decisions of one commit

            # Ports: \(ports) are bus, events and HTTP.
            [broker]
            tcpPort = \(portBase)
            # tcpHost = "127.0.0.1"        # one address of this machine; never all of them
            # tcpEnabled = true
            # spinMicroseconds = 100       # looks for more so long while traffic is recent
            # unknownServiceMilliseconds = 5000
            # requestSeconds = 30

            [token]
            # issuer = "fusionbus"

            [verification]
            # carrierTimeoutMilliseconds = 3000

            [smscode]
            # providers = ["sandbox"]
            # Where people send an up-going SMS to; without one, up-going nodes are unusable.
            receivingNumbers = ["10690000"]
            # sendsPerHour = 5             # per scheme and number
            # sendsPerDay = 10

            [scene]
            # idleSeconds = 1800
            # runSeconds = 7200

            [gateway]
            httpPort = \(httpPort)
            # httpHost = "127.0.0.1"       # one address of this machine; others reach it through a TLS proxy, or
            # tlsCertificateFile = ""      # with both files (PEM) it speaks TLS 1.3 itself; SIGHUP reads them again
            # tlsKeyFile = ""
            # trustedProxies = []          # whose X-Forwarded-For counts: ["10.0.0.0/8"]
            # connectionsPerAddressMax = 1024   # raise it behind a proxy
            # Whose access tokens the CAMARA APIs take; the gateway's README has every field.
            # camaraIssuers = [
            #   { issuer = "https://idp.example", jwksFile = "etc/idp.jwks", owner = "acme", schemeCode = "FA…" },
            # ]
            # phonePageHosts = []          # names beside localhost for the page at /demo, which hands out tokens to all
            # phonePageScheme = ""         # else the scheme that fusionctl up makes

            [echo]
            # textBytesMax = 65536

            """
    }

    static func policy(uid: UInt32) -> String {
        """
        # Who may do what on ipc, by Unix uid. Peers on tcp are in peers.toml. The broker reads both at
        # SIGHUP. Roles: operator, service, gateway, integrator. `serve` names services that a peer may
        # register: a name, prefix.* or *.

        # One account, one trust: whoever owns this home runs all its daemons and operates them.
        # With an account for each daemon, give each its own entry, one role, and its own names.
        [[uid]]
        uid = \(uid)
        name = "owner"
        roles = ["operator", "service", "gateway", "integrator"]
        serve = ["*"]

        # A role may call the services of the design unless an entry like this says otherwise. The
        # operator may also call what other teams serve.
        [[role]]
        name = "operator"
        call = ["*"]

        """
    }

    static let peers = """
        # Who may connect over tcp: one CURVE public key (Z85) and one role each. Written by
        # `fusionctl peer add` and `peer remove`; the broker reads it at SIGHUP.

        """
}
