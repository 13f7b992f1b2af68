/// What one page shows. A new value with every change.
public struct PageState: Hashable, Sendable {
    /// Tells pages of one handler apart.
    package let id: Int
    public let templateId: String
    public let nodeId: String
    public let nodeName: FusionAuthNodeName
    /// A half-way verification.
    public let isHalfway: Bool
    /// Shown, or about to be.
    var isPresented = false
    public internal(set) var isLoading = false
    /// The privacy box.
    public internal(set) var isChecked = false
    /// The privacy alert over the page.
    public internal(set) var isAlertShown = false

    /// Of the SIM, or of a number that is filled in.
    public internal(set) var maskedNumber: String?
    /// What the carrier wants shown.
    public internal(set) var carrier: CarrierOffer?

    /// Whether a number has to be typed.
    public internal(set) var takesNumber = false
    public internal(set) var codeLength: Int?
    /// 1 digits … 7, as in the SMS API.
    public internal(set) var codeType: Int?
    /// Wall time of the service, since 1970.
    public internal(set) var expiresAtMilliseconds: Int64?
    public internal(set) var resendAtMilliseconds: Int64?
    public internal(set) var sendsLeft: Int?
    /// `queued`, `sent`, `delivered` …; nil before the first send.
    public internal(set) var delivery: String?

    /// What the person has to send, and to whom.
    public internal(set) var smsContent: String?
    public internal(set) var receivingNumber: String?

    init(id: Int, templateId: String, node: Wire.NodeView, nodeName: FusionAuthNodeName) {
        self.id = id
        self.templateId = templateId
        self.nodeName = nodeName
        nodeId = node.nodeId
        isHalfway = node.halfway
        take(node)
    }

    /// The part that the service decides.
    mutating func take(_ node: Wire.NodeView) {
        maskedNumber = node.maskedNumber ?? maskedNumber
        takesNumber = node.numberInput == "typed" && maskedNumber == nil
        codeLength = node.codeLength
        codeType = node.codeType
        expiresAtMilliseconds = node.expiresAtMilliseconds
        resendAtMilliseconds = node.resendAtMilliseconds
        sendsLeft = node.sendsLeft
        delivery = node.delivery
        smsContent = node.upgoing?.text
        receivingNumber = node.upgoing?.receivingNumber
    }

    /// The app gave the number of a pre-filled node.
    mutating func fillIn(_ number: String) {
        maskedNumber = PhoneText.masked(number)
        takesNumber = false
    }
}

/// What a person, or the app in her name, does on a page.
package enum PageInput: Hashable, Sendable {
    case login
    case alertAgreed
    case alertClosed
    case otherLogin
    case setChecked(Bool)
    case protocolClicked(FusionAuthAgreement)
    case back
    /// `isChecked` nil: the page has no privacy box.
    case send(number: String?, isChecked: Bool?)
    case submit(code: String)
    case openComposer
    case alreadySent
    case proof(String)
    case localProofFailed
}

/// A number as typed: what can be judged without knowing countries.
enum PhoneText {
    /// E.164: 15 digits; the shortest numbers that get messages have 5.
    static let digitsRange = 5...15
    /// Two spellings of a number share at least so many last digits.
    static let sharedDigitsMin = 7

    /// Without spaces, hyphens and the like; nil when it is no number.
    static func cleaned(_ text: String) -> String? {
        var digits = ""
        for character in text {
            switch character {
            case "0"..."9" where character.isASCII: digits.append(character)
            case "+" where digits.isEmpty: digits = "+"
            case " ", "-", "(", ")", ".", "\u{00a0}": continue
            default: return nil
            }
        }
        let count = digits.hasPrefix("+") ? digits.count - 1 : digits.count
        return digitsRange.contains(count) ? digits : nil
    }

    /// Whether two spellings may mean one number: equal, or one with and one without country code.
    static func isSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (digits(left), digits(right))
        guard min(left.count, right.count) >= sharedDigitsMin else { return left == right }
        return left.hasSuffix(right) || right.hasSuffix(left)
    }

    /// Only the last two digits of a short number, four of a longer one.
    static func masked(_ text: String) -> String {
        let number = digits(text)
        let shown = number.count >= 10 ? 4 : 2
        guard number.count > shown else { return String(repeating: "*", count: number.count) }
        let first = number.count >= 11 ? 3 : 0
        let hidden = max(0, number.count - shown - first)
        return String(number.prefix(first)) + String(repeating: "*", count: hidden)
            + String(number.suffix(shown))
    }

    private static func digits(_ text: String) -> String {
        String(text.filter { $0.isASCII && $0.isNumber })
    }
}
