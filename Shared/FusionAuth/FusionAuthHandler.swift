public import Foundation

/// The SDK of one app: make it with a token, give it a delegate, start scenes.
///
/// Every method may be called on any thread and returns at once; what comes of it is told to the
/// delegate. A call that comes at the wrong time changes nothing and says so by its code.
public final class FusionAuthHandler: Sendable {
    public static let sdkVersion = "0.1.0"
    /// Token updates that wait at a time: one that hangs must not block the next.
    private static let tokenUpdatesMax = 4

    public struct Options: Sendable {
        /// A stable id of this installation. Without one, device risk fails (700004).
        public var deviceId: String?
        /// Of the texts of messages, BCP 47: `zh-CN`.
        public var locale: String?
        /// Without one, number authentication is not offered.
        public var carrier: (any CarrierTokenProvider)?
        public var composer: (any MessageComposer)?
        /// The app can show human checks.
        public var showsGraphic = false
        /// Where the delegates are called: `.main` in an app with views. nil: a queue of its own.
        public var callbackQueue: OperationQueue?

        public init() {}
    }

    private let shell: FusionAuthShell

    /// - Parameters:
    ///   - token: nil asks the delegate for the first one.
    ///   - endpoint: the gateway: `https://fusion.example.com`.
    public convenience init(
        token: FusionAuthToken?, schemeCode: String, endpoint: URL, options: Options = Options()
    ) {
        self.init(
            token: token, schemeCode: schemeCode,
            transport: URLSessionTransport(endpoint: endpoint), options: options)
    }

    public convenience init(
        token: FusionAuthToken?, schemeCode: String, transport: any FusionAuthTransport,
        options: Options = Options()
    ) {
        var around = FusionAuthSurroundings(
            transport: transport, pause: SystemPause(),
            callbacks: options.callbackQueue ?? SystemEffects.callbackQueue(),
            tokenUpdates: ThreadExecutor(threadsMax: Self.tokenUpdatesMax))
        around.carrier = options.carrier
        around.composer = options.composer
        var settings = FusionAuthMachine.Settings(
            schemeCode: schemeCode, keyPrefix: SystemEffects.keyPrefix())
        settings.deviceId = options.deviceId
        settings.locale = options.locale
        settings.showsGraphic = options.showsGraphic
        self.init(token: token, settings, around)
    }

    package init(
        token: FusionAuthToken?, _ settings: FusionAuthMachine.Settings,
        _ around: FusionAuthSurroundings
    ) {
        var settings = settings
        settings.hasCarrier = around.carrier != nil
        settings.hasComposer = around.composer != nil
        shell = FusionAuthShell(FusionAuthMachine(token: token, settings), around)
        shell.attach(self)
    }

    deinit { shell.destroy() }

    /// The first one begins: it is asked for a token. Not held.
    public func setFusionAuthDelegate(_ delegate: (any FusionAuthDelegate)?) {
        shell.setDelegate(delegate)
    }

    public func updateToken(_ token: FusionAuthToken) { shell.receive(.updateToken(token)) }

    /// - Parameter presenter: draws the pages, and is held until the scene ends. nil: the app drives
    ///   `currentPage` by itself.
    public func startScene(templateId: String, presenter: (any FusionAuthPresenter)? = nil) {
        shell.start(templateId, Audience(presenter: presenter, uiDelegate: nil))
    }

    /// The same, with a delegate that shapes each page before it is shown; held until the scene ends.
    public func startSceneUI(
        templateId: String, presenter: (any FusionAuthPresenter)? = nil,
        uiDelegate: any FusionAuthUIDelegate
    ) {
        shell.start(templateId, Audience(presenter: presenter, uiDelegate: uiDelegate))
    }

    /// After the app's server has decided: true takes the success edge, which the service allows only
    /// with a PASS on its record; false takes the failure edge.
    public func continueScene(templateId: String, isSuccess: Bool) {
        shell.receive(.proceed(templateId: templateId, isSuccess: isSuccess))
    }

    /// Ends the scene now; allowed at any time.
    public func stopScene(templateId: String) { shell.receive(.stop(templateId: templateId)) }

    /// nil between scenes.
    public var currentTemplateId: String? { shell.currentTemplateId }
    public var currentPage: FusionAuthPage? { shell.currentPage }

    public func closeNumberAuthPrivacyAlertView() { shell.receive(.closePrivacyAlert) }

    /// Ends everything. No callback comes after it.
    public func destroy() { shell.destroy() }
}
