/// What the SDK tells the app. Names are the original's.
///
/// All calls but the first come one after another on the handler's callback queue, none after
/// `destroy`. The handler may be called from within each: such a call takes effect after it.
public protocol FusionAuthDelegate: AnyObject, Sendable {
    /// Fetch a token from the app's server and return it; nil when there is none.
    ///
    /// Asked when the handler is made, 5 minutes before a token expires, and when one is refused in
    /// the middle. Runs on a thread of its own, never the main one, and may wait there; after 60 s
    /// the SDK goes on without it (300004).
    func onSDKTokenUpdate(_ handler: FusionAuthHandler) -> FusionAuthToken?
    /// May come many times. From the first on, scenes can be started.
    func onSDKTokenAuthSuccess(_ handler: FusionAuthHandler)
    /// - Parameter failToken: the token in question; nil when none was given.
    func onSDKTokenAuthFailure(
        _ handler: FusionAuthHandler, failToken: FusionAuthToken?, error: FusionAuthEvent)

    /// A mask token was won: send it to the app's server, which alone learns whether it is a PASS,
    /// then call `continueScene` or `stopScene`.
    func onVerifySuccess(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, maskToken: String,
        event: FusionAuthEvent)
    /// The same in the middle of a scene. `resultBlock(true)` goes on to the next node; with false
    /// nothing happens and the page stays. Its first call counts.
    func onHalfwayVerifySuccess(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, maskToken: String,
        event: FusionAuthEvent, resultBlock: @escaping @Sendable (Bool) -> Void)
    func onVerifyFailed(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, event: FusionAuthEvent)
    /// The scene is over, well or not. Comes once for each scene that was begun.
    func onTemplateFinish(_ handler: FusionAuthHandler, event: FusionAuthEvent)
    /// The account's number: to show and to use (pre-filled nodes), or to compare a typed one with.
    func onGetPhoneNumberForVerification(
        _ handler: FusionAuthHandler, event: FusionAuthEvent
    ) -> String?
    func onProtocolClick(
        _ handler: FusionAuthHandler, protocolName: String, protocolUrl: String,
        event: FusionAuthEvent)
    /// Start (900003) and end (900004) of loading, an unchecked privacy box, a number that is none,
    /// a call in the wrong order, no network.
    func onVerifyInterrupt(_ handler: FusionAuthHandler, event: FusionAuthEvent)
    /// Every event, also those that come with another callback.
    func onAuthEvent(_ handler: FusionAuthHandler, event: FusionAuthEvent)
}

extension FusionAuthDelegate {
    public func onAuthEvent(_ handler: FusionAuthHandler, event: FusionAuthEvent) {}
}

/// Lets the app shape each page before it is shown. All optional.
public protocol FusionAuthUIDelegate: AnyObject, Sendable {
    func onPhoneNumberVerifyUICustomDefined(
        _ handler: FusionAuthHandler, templateId: String, nodeId: String,
        model: inout NumberAuthPageModel)
    /// - Parameter isAutoInput: the number is filled in and not typed.
    func onSMSCodeVerifyUICustomDefined(
        _ handler: FusionAuthHandler, templateId: String, nodeId: String, isAutoInput: Bool,
        view: SMSCodeView)
    func onSMSSendVerifyUICustomDefined(
        _ handler: FusionAuthHandler, templateId: String, nodeId: String, smsContent: String,
        receiveNum: String, view: UpGoingView)
    func onNavigationControllerCustomDefined(
        _ handler: FusionAuthHandler, templateId: String, nodeId: String,
        navigation: inout NavigationModel)
}

extension FusionAuthUIDelegate {
    public func onPhoneNumberVerifyUICustomDefined(
        _ handler: FusionAuthHandler, templateId: String, nodeId: String,
        model: inout NumberAuthPageModel
    ) {}
    public func onSMSCodeVerifyUICustomDefined(
        _ handler: FusionAuthHandler, templateId: String, nodeId: String, isAutoInput: Bool,
        view: SMSCodeView
    ) {}
    public func onSMSSendVerifyUICustomDefined(
        _ handler: FusionAuthHandler, templateId: String, nodeId: String, smsContent: String,
        receiveNum: String, view: UpGoingView
    ) {}
    public func onNavigationControllerCustomDefined(
        _ handler: FusionAuthHandler, templateId: String, nodeId: String,
        navigation: inout NavigationModel
    ) {}
}

/// Draws pages: the counterpart of the view controller that the original presents on. Called on the
/// callback queue.
public protocol FusionAuthPresenter: AnyObject, Sendable {
    /// - Returns: false when it could not be shown; the node then fails (400004, 500006 …).
    func present(_ page: FusionAuthPage) -> Bool
    /// Something on the shown page changed; its view has the new state.
    func update(_ page: FusionAuthPage)
    func dismiss(_ page: FusionAuthPage)
}

extension FusionAuthPresenter {
    public func update(_ page: FusionAuthPage) {}
    public func dismiss(_ page: FusionAuthPage) {}
}
