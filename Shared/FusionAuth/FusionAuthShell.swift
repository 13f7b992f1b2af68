import Foundation

/// What surrounds the machine.
package struct FusionAuthSurroundings: Sendable {
    package var transport: any FusionAuthTransport
    package var carrier: (any CarrierTokenProvider)?
    package var composer: (any MessageComposer)?
    package var pause: any FusionAuthPause
    package var callbacks: any CallbackExecutor
    /// Where `onSDKTokenUpdate` may wait.
    package var tokenUpdates: any CallbackExecutor

    package init(
        transport: any FusionAuthTransport, pause: any FusionAuthPause,
        callbacks: any CallbackExecutor, tokenUpdates: any CallbackExecutor
    ) {
        self.transport = transport
        self.pause = pause
        self.callbacks = callbacks
        self.tokenUpdates = tokenUpdates
    }
}

/// Who sees one scene. Held until it ends.
struct Audience: Sendable {
    let presenter: (any FusionAuthPresenter)?
    let uiDelegate: (any FusionAuthUIDelegate)?

    static let nobody = Self(presenter: nil, uiDelegate: nil)
}

/// Hands inputs to the machine one at a time and performs what it answers.
final class FusionAuthShell: Sendable {
    private struct Held: Sendable {
        var machine: FusionAuthMachine
        var isOpen = true
        var hasBegun = false
        var audience = Audience.nobody
        /// Shown, and not yet dismissed.
        var pages: [Int: PageCore] = [:]

        var currentPage: (PageCore, PageState)? {
            guard let state = machine.currentPage, let page = pages[state.id] else { return nil }
            return (page, state)
        }
        weak var handler: FusionAuthHandler?
        weak var delegate: (any FusionAuthDelegate)?
    }

    private let held: Guarded<Held>
    private let around: FusionAuthSurroundings
    private let runner = EffectRunner()
    private let mailbox: Mailbox

    init(_ machine: FusionAuthMachine, _ around: FusionAuthSurroundings) {
        held = Guarded(Held(machine: machine))
        self.around = around
        mailbox = Mailbox(around.callbacks)
    }

    var currentTemplateId: String? { held.with { $0.isOpen ? $0.machine.currentTemplateId : nil } }
    var currentPage: FusionAuthPage? {
        held.with { held in held.currentPage.map { FusionAuthPage($0.0) } }
    }

    func attach(_ handler: FusionAuthHandler) { held.with { $0.handler = handler } }

    func setDelegate(_ delegate: (any FusionAuthDelegate)?) {
        let mustBegin = held.with { held in
            held.delegate = delegate
            defer { if delegate != nil { held.hasBegun = true } }
            return delegate != nil && !held.hasBegun
        }
        if mustBegin { receive(.activate) }
    }

    func start(_ templateId: String, _ audience: Audience) {
        held.with { held in
            let isFree = held.machine.currentTemplateId == nil
            let actions = held.machine.handle(.start(templateId: templateId))
            if isFree, held.machine.currentTemplateId != nil { held.audience = audience }
            perform(actions, held)
        }
    }

    func receive(_ input: MachineInput) {
        // What is let go may be the app's, whose end may call us: outside the lock.
        let gone = held.with { held -> Audience? in
            let actions = held.machine.handle(input)
            if let (page, state) = held.currentPage { page.show(state) }
            perform(actions, held)
            guard held.machine.currentTemplateId == nil else { return nil }
            defer { held.audience = .nobody }
            return held.audience
        }
        withExtendedLifetime(gone) {}
    }

    func destroy() {
        held.with { $0.isOpen = false }
        receive(.destroy)
    }

    // MARK: Performing

    /// Under the lock: nothing here waits, and nothing of the app runs.
    private func perform(_ actions: [MachineAction], _ held: Held) {
        for action in actions {
            switch action {
            case .tell(let callback):
                let audience = held.audience
                mailbox.put { [weak self] in self?.deliver(callback, audience) }
            case .askToken(let id):
                around.tokenUpdates.run { [weak self] in
                    guard let self, let (handler, delegate) = self.listeners else { return }
                    let token = delegate.onSDKTokenUpdate(handler)
                    self.receive(.tokenGiven(id, token))
                }
            case .sendLast(let request):
                let transport = around.transport
                runner.runApart { _ = try? await transport.send(request) }
            case .end:
                runner.end()
                mailbox.end()
            case .send, .wake, .prepareCarrier, .fetchCarrierToken, .compose:
                runner.run { [weak self, around] in
                    guard let input = await Self.ask(action, around) else { return }
                    self?.receive(input)
                }
            }
        }
    }

    /// - Returns: what came of it; nil when nothing did.
    private static func ask(
        _ action: MachineAction, _ around: FusionAuthSurroundings
    ) async -> MachineInput? {
        switch action {
        case .send(let id, let request):
            do throws(FusionAuthTransportFailure) {
                return .answered(id, .success(try await around.transport.send(request)))
            } catch {
                return .answered(id, .failure(error))
            }
        case .wake(let id, let duration):
            do { try await around.pause.pause(for: duration) } catch { return nil }
            return .woke(id)
        case .prepareCarrier(let id):
            guard let carrier = around.carrier else { return nil }
            do throws(CarrierFailure) {
                return .carrierPrepared(id, .success(try await carrier.prepare()))
            } catch {
                return .carrierPrepared(id, .failure(error))
            }
        case .fetchCarrierToken(let id):
            guard let carrier = around.carrier else { return nil }
            do throws(CarrierFailure) {
                return .carrierToken(id, .success(try await carrier.token()))
            } catch {
                return .carrierToken(id, .failure(error))
            }
        case .compose(let id, let text, let number):
            guard let composer = around.composer else { return nil }
            return .composed(id, await composer.compose(text: text, to: number))
        case .tell, .askToken, .sendLast, .end: return nil
        }
    }

    // MARK: Delivering

    private var listeners: (FusionAuthHandler, any FusionAuthDelegate)? {
        // Let go outside the lock: the last one to hold the handler may be us.
        let (handler, delegate) = held.with { ($0.isOpen ? $0.handler : nil, $0.delegate) }
        guard let handler, let delegate else { return nil }
        return (handler, delegate)
    }

    private func deliver(_ callback: Callback, _ audience: Audience) {
        guard let (handler, delegate) = listeners else { return }
        switch callback {
        case .event(let event): delegate.onAuthEvent(handler, event: event)
        case .tokenAuthSuccess: delegate.onSDKTokenAuthSuccess(handler)
        case .tokenAuthFailure(let token, let event):
            delegate.onSDKTokenAuthFailure(handler, failToken: token, error: event)
        case .verifySuccess(let node, let maskToken, let event):
            delegate.onVerifySuccess(handler, nodeName: node, maskToken: maskToken, event: event)
        case .halfwayVerifySuccess(let id, let node, let maskToken, let event):
            delegate.onHalfwayVerifySuccess(
                handler, nodeName: node, maskToken: maskToken, event: event
            ) { [weak self] in self?.receive(.halfwayAnswered(id, $0)) }
        case .verifyFailed(let node, let event):
            delegate.onVerifyFailed(handler, nodeName: node, event: event)
        case .templateFinish(let event): delegate.onTemplateFinish(handler, event: event)
        case .askNumber(let id, let event):
            receive(
                .numberGiven(id, delegate.onGetPhoneNumberForVerification(handler, event: event)))
        case .protocolClick(let agreement, let event):
            delegate.onProtocolClick(
                handler, protocolName: agreement.name, protocolUrl: agreement.url, event: event)
        case .interrupt(let event): delegate.onVerifyInterrupt(handler, event: event)
        case .present(let state): present(state, handler, audience)
        case .update(let state):
            guard let page = held.with({ $0.pages[state.id] }) else { return }
            audience.presenter?.update(FusionAuthPage(page))
        case .dismiss(let id, let isKept):
            guard let page = held.with({ $0.pages.removeValue(forKey: id) }) else { return }
            if !isKept { audience.presenter?.dismiss(FusionAuthPage(page)) }
        }
    }

    private func present(
        _ state: PageState, _ handler: FusionAuthHandler, _ audience: Audience
    ) {
        let id = state.id
        let core = PageCore(state) { [weak self] in self?.receive(.page(id, $0)) }
        held.with { $0.pages[id] = core }
        let page = FusionAuthPage(core)
        if let uiDelegate = audience.uiDelegate {
            customise(page, core, handler, uiDelegate)
        }
        receive(.customised(id, PageTerms(core.model)))
        receive(.presented(id, audience.presenter?.present(page) ?? true))
    }

    private func customise(
        _ page: FusionAuthPage, _ core: PageCore, _ handler: FusionAuthHandler,
        _ uiDelegate: any FusionAuthUIDelegate
    ) {
        let (templateId, nodeId) = (core.state.templateId, core.state.nodeId)
        switch page {
        case .numberAuth:
            var model = core.model
            uiDelegate.onPhoneNumberVerifyUICustomDefined(
                handler, templateId: templateId, nodeId: nodeId, model: &model)
            core.model = model
        case .smsCode(let view):
            uiDelegate.onSMSCodeVerifyUICustomDefined(
                handler, templateId: templateId, nodeId: nodeId,
                isAutoInput: !view.state.takesNumber, view: view)
        case .upGoing(let view):
            uiDelegate.onSMSSendVerifyUICustomDefined(
                handler, templateId: templateId, nodeId: nodeId, smsContent: view.smsContent,
                receiveNum: view.receivingNumber, view: view)
        case .graphic: break
        }
        var bar = core.bar
        uiDelegate.onNavigationControllerCustomDefined(
            handler, templateId: templateId, nodeId: nodeId, navigation: &bar)
        core.bar = bar
    }
}
