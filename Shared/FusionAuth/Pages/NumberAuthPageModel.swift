/// How the page of number authentication looks and behaves. The defaults are what the original's
/// demo sets. Codable, so that a page of the web can be themed by the same JSON; a property that
/// JSON leaves out keeps its default.
public struct NumberAuthPageModel: Hashable, Sendable {
    public enum Orientation: String, Codable, Hashable, Sendable, CaseIterable {
        case portrait, portraitUpsideDown, landscapeLeft, landscapeRight
    }
    public enum Direction: String, Codable, Hashable, Sendable { case bottom, right, top, left }
    public enum MoreLoginAction: String, Codable, Hashable, Sendable {
        /// To the node that the scene names for it.
        case otherLogin
        /// Only the event; the app goes on by itself.
        case none
    }

    // Page
    public var supportedOrientations: [Orientation] = [.portrait]
    public var presentDirection = Direction.bottom
    /// Keeps the page when it would go; the app dismisses it.
    public var keepsPageOnDismissal = false
    public var backgroundColor = FusionAuthColor(0xEFF3F2)
    /// Name of an own view laid over the page, and where.
    public var customViewName: String?
    public var customViewFrame = FusionAuthFrame(left: 0, right: 0, top: 0, bottom: 0)

    // Navigation
    public var navTitle = FusionAuthText("One-click Login", .black, FusionAuthFont(18))
    public var navColor = FusionAuthColor(0xEFF3F2)

    // Logo, name, number, slogan
    public var logoIsHidden = true
    public var nameLabel = FusionAuthText("Login", FusionAuthColor(0x262626), FusionAuthFont(24))
    public var nameLabelFrame = FusionAuthFrame(isCentred: true, top: 150)
    public var numberColor = FusionAuthColor(0x262626)
    public var numberFont = FusionAuthFont(24)
    public var numberFrame = FusionAuthFrame(isCentred: true, top: 214)
    public var slogan = FusionAuthText("", FusionAuthColor(0x555555), FusionAuthFont(15))
    public var sloganFrame = FusionAuthFrame(isCentred: true, top: 252)

    // Buttons
    public var loginButton = FusionAuthText("One-click Login", .white, FusionAuthFont(16))
    public var loginButtonBackgrounds = FusionAuthButtonBackgrounds(
        normal: FusionAuthBackground(FusionAuthColor(0x0064C8)))
    /// Width of the screen − 32.
    public var loginButtonFrame = FusionAuthFrame(left: 16, right: 16, top: 318, height: 44)
    public var otherLoginButton = FusionAuthText(
        "Log in with a different phone number", FusionAuthColor(0x262626), FusionAuthFont(16))
    public var otherLoginButtonBackground = FusionAuthBackground(.white)
    public var otherLoginButtonIsHidden = false
    public var otherLoginButtonFrame = FusionAuthFrame(left: 16, right: 16, top: 378, height: 44)
    public var moreLoginAction = MoreLoginAction.otherLogin

    // Privacy
    /// Place of the carrier's agreement among the others, 0 first.
    public var privacyOperatorIndex = 2
    /// The app's own; two at most are shown in one line.
    public var privacyAgreements: [FusionAuthAgreement] = []
    public var privacyConnectors = [", ", " and "]
    public var privacyPrefix = "I have read and agree to "
    public var privacySuffix = ""
    /// Marks around the carrier's agreement.
    public var privacyOperatorPrefix = ""
    public var privacyOperatorSuffix = ""
    public var privacyTextColor = FusionAuthColor(0x555555)
    public var privacyLinkColor = FusionAuthColor(0x0064C8)
    public var privacyFont = FusionAuthFont(14)
    public var privacyFrame = FusionAuthFrame(left: 16, right: 16, bottom: 60)

    // Check box
    /// A box that is hidden cannot be unchecked: pressing the button is agreeing.
    public var checkBoxIsHidden = false
    public var checkBoxIsChecked = false
    public var checkBoxSize = 21.0

    // Privacy alert
    /// Shown when the button is pressed while the box is unchecked.
    public var privacyAlertIsShown = true
    /// Agreeing there logs in at once; else it only checks the box.
    public var privacyAlertLogsIn = true
    public var privacyAlertCornerRadii = [4.0, 4.0, 4.0, 4.0]
    public var privacyAlertBackgroundColor = FusionAuthColor.white
    public var privacyAlertTitle = FusionAuthText(
        "Please read and agree", FusionAuthColor(0x262626), FusionAuthFont(16))
    public var privacyAlertContentColor = FusionAuthColor(0x555555)
    public var privacyAlertLinkColor = FusionAuthColor(0x0064C8)
    public var privacyAlertContentFont = FusionAuthFont(16)
    public var privacyAlertContentIsCentred = true
    public var privacyAlertButton = FusionAuthText("Agree", .white, FusionAuthFont(16))
    public var privacyAlertButtonHighlightedColor = FusionAuthColor.white
    public var privacyAlertButtonBackgrounds = FusionAuthButtonBackgrounds(
        normal: FusionAuthBackground(FusionAuthColor(0x0064C8)))
    public var privacyAlertClosesOnMaskTap = false
    public var privacyAlertMaskColor = FusionAuthColor(0x262626, alpha: 0.88)
    public var privacyAlertFrame = FusionAuthFrame(
        left: 27, right: 27, topShare: 0.382, height: 200)
    public var privacyAlertTitleFrame = FusionAuthFrame(isCentred: true, top: 32)
    public var privacyAlertContentFrame = FusionAuthFrame(left: 24, right: 24, top: 70)
    public var privacyAlertButtonFrame = FusionAuthFrame(
        left: 0, right: 0, bottom: 0, height: 56)

    public init() {}

    /// The sentence at the box: prefix, agreements with the carrier's at its place, suffix.
    public func privacySentence(carrier: FusionAuthAgreement?) -> String {
        var names = privacyAgreements.map(\.name)
        if let carrier {
            let marked = privacyOperatorPrefix + carrier.name + privacyOperatorSuffix
            names.insert(marked, at: max(0, min(privacyOperatorIndex, names.count)))
        }
        var text = privacyPrefix
        for (index, name) in names.enumerated() {
            if index > 0 {
                let isLast = index == names.count - 1
                text += (isLast ? privacyConnectors.last : privacyConnectors.first) ?? ", "
            }
            text += name
        }
        return text + privacySuffix
    }
}

/// The bar above the pages of one scene.
public struct NavigationModel: Codable, Hashable, Sendable {
    public var isHidden = false
    public var title = FusionAuthText("", .black, FusionAuthFont(18))
    public var backgroundColor = FusionAuthColor(0xEFF3F2)
    public var tintColor = FusionAuthColor(0x262626)
    public var orientations: [NumberAuthPageModel.Orientation] = [.portrait]

    public init() {}
}
