import Foundation

/// What the command line says.
struct Flags {
    enum Wish {
        case play(Flags)
        case help
        case wrong(String)
    }

    static let usage = """
        handset: plays scenes on a phone of the sandbox: the sample app, and a person who uses it.

        handset --gateway URL --scheme CODE --number NUMBER (--app-server URL | --token TOKEN) …

          --gateway URL         of the gateway, as fusionctl up prints it
          --scheme CODE         of the app
          --number NUMBER       of the phone's SIM, such as +8613800138000
        how the app gets its tokens
          --app-server URL      normal access: deploy/examples/appserver
          --token TOKEN         quick access: a pasted token, of fusionctl token temporary
          --token-command CMD   quick access: asks the shell for the token of each further scene; the
                                account's number is in $NUMBER:
                                'fusionctl token temporary --bound-number "$NUMBER"'
          --verify-command CMD  quick access: asks the shell about each mask token, which it finds in
                                $MASK_TOKEN: 'fusionctl verify "$MASK_TOKEN"'. Without it each scene
                                shows its mask token, to be checked by hand, and ends there
        what is played
          --template LIST       100001 … 100005 with commas, or all; else 100001
          --new-number LIST     the next numbers of the person, with commas; 100002 needs one
          --stored-number N     what the app knows of the account before it begins
          --other-login         takes the other way than one click
          --wrong-codes N       types so many wrong codes before the right one
          --gives-up            leaves at the first wrong code
          --lies                says "already sent" without sending
          --sim-fault NAME      no_sim, no_cellular_data …, as the messages name them
        other
          --bundle-id ID        of the app; else com.example.app
          --device ID           else a new one
          --json                one JSON object on each line
          --help

        exits 0 when every scene ended as designed, 1 when one did not, 2 for wrong flags

        """

    private static let switches: Set = ["other-login", "gives-up", "lies", "json"]
    private static let takesValue: Set = [
        "gateway", "scheme", "number", "app-server", "token", "token-command", "verify-command",
        "template", "new-number", "stored-number", "wrong-codes", "sim-fault", "bundle-id",
        "device",
    ]
    private static let all = ["100001", "100002", "100003", "100004", "100005"]

    private var values: [String: String] = [:]
    private(set) var gateway = URL(fileURLWithPath: "/")

    static func read(_ words: [String]) -> Wish {
        if words.isEmpty { return .wrong("nothing is said about what to play") }
        if words.contains("--help") || words.contains("-h") { return .help }
        var flags = Self()
        var rest = words[...]
        while let word = rest.popFirst() {
            let name = word.hasPrefix("--") ? String(word.dropFirst(2)) : ""
            if switches.contains(name) {
                flags.values[name] = ""
            } else if takesValue.contains(name) {
                guard let value = rest.popFirst(), !value.isEmpty else {
                    return .wrong("\(word) needs a value")
                }
                flags.values[name] = value
            } else {
                return .wrong("\(word) is no flag")
            }
        }
        if let fault = flags.fault() { return .wrong(fault) }
        return .play(flags)
    }

    /// What is missing, or does not fit.
    private mutating func fault() -> String? {
        for name in ["gateway", "scheme", "number"] where !has(name) {
            return "--\(name) is missing"
        }
        guard has("token") != has("app-server") else {
            return "one of --app-server and --token is needed"
        }
        for name in ["token-command", "verify-command"] where has(name) && !has("token") {
            return "--\(name) goes with --token"
        }
        for name in ["gateway", "app-server"] where has(name) && url(name)?.host == nil {
            return "--\(name) is no URL"
        }
        if let url = url("gateway") { gateway = url }
        for name in ["number", "new-number", "stored-number"] {
            for number in list(name) where number.wholeMatch(of: /\+[1-9][0-9]{6,14}/) == nil {
                return "--\(name) takes numbers such as +8613800138000, not \(number)"
            }
        }
        for template in templates where template.wholeMatch(of: /[0-9]{6}/) == nil {
            return "--template takes 100001 … 100005 with commas, or all, not \(template)"
        }
        if templates.contains("100002"), !has("new-number") { return "100002 needs --new-number" }
        if has("wrong-codes"), wrongCodes == nil { return "--wrong-codes takes a number" }
        return nil
    }

    subscript(name: String) -> String? { values[name] }
    func has(_ name: String) -> Bool { values[name] != nil }
    func url(_ name: String) -> URL? { values[name].flatMap { URL(string: $0) } }
    func list(_ name: String) -> [String] {
        (values[name] ?? "").split(separator: ",").map(String.init)
    }
    var wrongCodes: Int? { values["wrong-codes"].flatMap { Int($0) } }
    var templates: [String] {
        let given = list("template")
        return given.isEmpty ? ["100001"] : given == ["all"] ? Self.all : given
    }
}
