import Foundation

/// A page of the scene, for whoever draws it.
public enum FusionAuthPage: Sendable {
    case numberAuth(NumberAuthView)
    case smsCode(SMSCodeView)
    case upGoing(UpGoingView)
    case graphic(GraphicView)

    public var state: PageState {
        switch self {
        case .numberAuth(let view): view.state
        case .smsCode(let view): view.state
        case .upGoing(let view): view.state
        case .graphic(let view): view.state
        }
    }

    init(_ core: PageCore) {
        switch core.state.nodeName {
        case .numberAuth: self = .numberAuth(NumberAuthView(core))
        case .upGoingAuth: self = .upGoing(UpGoingView(core))
        case .graphAuth: self = .graphic(GraphicView(core))
        case .verifyCodeAuth, .deviceSecurity: self = .smsCode(SMSCodeView(core))
        }
    }
}

/// What all views share: the state, and the way back to the machine. A view whose page is gone does
/// nothing.
final class PageCore: Sendable {
    private struct Content {
        var state: PageState
        var model = NumberAuthPageModel()
        var bar = NavigationModel()
    }

    private let guarded: Guarded<Content>
    let post: @Sendable (PageInput) -> Void

    init(_ state: PageState, post: @escaping @Sendable (PageInput) -> Void) {
        guarded = Guarded(Content(state: state))
        self.post = post
    }

    var state: PageState { guarded.with { $0.state } }
    var model: NumberAuthPageModel {
        get { guarded.with { $0.model } }
        set { guarded.with { $0.model = newValue } }
    }
    var bar: NavigationModel {
        get { guarded.with { $0.bar } }
        set { guarded.with { $0.bar = newValue } }
    }
    func show(_ state: PageState) { guarded.with { $0.state = state } }
}

/// One-click number authentication. A headless model: the app draws it and calls what is pressed.
public final class NumberAuthView: Sendable {
    let core: PageCore
    init(_ core: PageCore) { self.core = core }

    public var state: PageState { core.state }
    /// As the UI delegate left it.
    public var model: NumberAuthPageModel { core.model }
    public var navigation: NavigationModel { core.bar }

    /// "One-click login" (410008). With the box unchecked: the privacy alert, or an interrupt.
    public func login() { core.post(.login) }
    /// "Log in with a different phone number" (410009).
    public func otherLogin() { core.post(.otherLogin) }
    /// The privacy box.
    public func setChecked(_ isChecked: Bool) { core.post(.setChecked(isChecked)) }
    /// "Agree" in the privacy alert.
    public func agreeInAlert() { core.post(.alertAgreed) }
    public func closeAlert() { core.post(.alertClosed) }
    /// An agreement was touched, here or in the alert (410011, 410012).
    public func clickProtocol(name: String, url: String) {
        core.post(.protocolClicked(FusionAuthAgreement(name, url)))
    }
    /// The way out (410010): ends the scene.
    public func back() { core.post(.back) }
}

/// The page where a code is asked for and typed.
public final class SMSCodeView: Sendable {
    /// Boxes for the code while the service has not said otherwise.
    public static let codeLengthDefault = 4

    let core: PageCore
    init(_ core: PageCore) { self.core = core }

    public var state: PageState { core.state }
    public var navigation: NavigationModel { core.bar }
    public var codeLength: Int { state.codeLength ?? Self.codeLengthDefault }

    /// "Get code" (510002). `number` counts where `state.takesNumber`.
    public func send(number: String? = nil) { core.post(.send(number: number, isChecked: nil)) }
    /// The same with the privacy box, in the original's shape.
    public func verifyCodeButtonClick(number: String?, checked: Bool) {
        if checked != state.isChecked { core.post(.setChecked(checked)) }
        core.post(.send(number: number, isChecked: checked))
    }
    /// "Next" (510003).
    public func submit(code: String) { core.post(.submit(code: code)) }
    public func setChecked(_ isChecked: Bool) { core.post(.setChecked(isChecked)) }
    public func clickProtocol(name: String, url: String) {
        core.post(.protocolClicked(FusionAuthAgreement(name, url)))
    }
    /// The way out (510004): ends the scene.
    public func back() { core.post(.back) }
}

/// The page that asks the person to send a text.
public final class UpGoingView: Sendable {
    let core: PageCore
    init(_ core: PageCore) { self.core = core }

    public var state: PageState { core.state }
    public var navigation: NavigationModel { core.bar }
    public var smsContent: String { state.smsContent ?? "" }
    public var receivingNumber: String { state.receivingNumber ?? "" }

    /// "Send now" (610002): opens the handset's composer, where the handler was given one.
    public func send() { core.post(.openComposer) }
    /// "I have sent it" (610003).
    public func alreadySent() { core.post(.alreadySent) }
    /// The way out (610004): ends the scene.
    public func back() { core.post(.back) }
}

/// A human check. The app brings its own; the SDK carries its proof.
public final class GraphicView: Sendable {
    let core: PageCore
    init(_ core: PageCore) { self.core = core }

    public var state: PageState { core.state }
    public var navigation: NavigationModel { core.bar }

    /// The check gave a proof (110005 of this node); the service judges it.
    public func submit(proof: String) { core.post(.proof(proof)) }
    /// The check itself says no (110006).
    public func localCheckFailed() { core.post(.localProofFailed) }
    /// The way out (110010): ends the scene.
    public func back() { core.post(.back) }
}
