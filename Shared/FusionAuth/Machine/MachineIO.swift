/// What happens to the SDK: calls of the app, presses on pages, answers from outside.
package enum MachineInput: Sendable, Hashable {
    // The app
    case activate
    case updateToken(FusionAuthToken)
    case start(templateId: String)
    case proceed(templateId: String, isSuccess: Bool)
    case stop(templateId: String)
    case closePrivacyAlert
    case destroy

    // Pages; the number is the page's id
    case page(Int, PageInput)
    case customised(Int, PageTerms)
    case presented(Int, Bool)

    // Outside; the number is the id of the action that asked
    case tokenGiven(Int, FusionAuthToken?)
    case numberGiven(Int, String?)
    case halfwayAnswered(Int, Bool)
    case answered(Int, Result<FusionAuthResponse, FusionAuthTransportFailure>)
    case carrierPrepared(Int, Result<CarrierOffer, CarrierFailure>)
    case carrierToken(Int, Result<CarrierToken, CarrierFailure>)
    case composed(Int, ComposeResult)
    case woke(Int)
}

/// What the shell has to do, in this order.
package enum MachineAction: Sendable, Hashable {
    case tell(Callback)
    /// Ask the delegate for a token, off the callback queue. → `tokenGiven`
    case askToken(Int)
    /// → `answered`
    case send(Int, FusionAuthRequest)
    /// A request whose answer nobody waits for.
    case sendLast(FusionAuthRequest)
    /// → `woke`
    case wake(Int, after: Duration)
    /// → `carrierPrepared`
    case prepareCarrier(Int)
    /// → `carrierToken`
    case fetchCarrierToken(Int)
    /// → `composed`
    case compose(Int, text: String, to: String)
    /// End whatever is under way; nothing more comes.
    case end
}

/// One call of a delegate or of the presenter.
package enum Callback: Sendable, Hashable {
    case event(FusionAuthEvent)
    case tokenAuthSuccess
    case tokenAuthFailure(FusionAuthToken?, FusionAuthEvent)
    case verifySuccess(FusionAuthNodeName, maskToken: String, FusionAuthEvent)
    /// → `halfwayAnswered`
    case halfwayVerifySuccess(Int, FusionAuthNodeName, maskToken: String, FusionAuthEvent)
    case verifyFailed(FusionAuthNodeName, FusionAuthEvent)
    case templateFinish(FusionAuthEvent)
    /// → `numberGiven`
    case askNumber(Int, FusionAuthEvent)
    case protocolClick(FusionAuthAgreement, FusionAuthEvent)
    case interrupt(FusionAuthEvent)
    /// The UI delegate, where there is one, then the presenter. → `customised`, `presented`
    case present(PageState)
    case update(PageState)
    /// `isKept`: the app dismisses it by itself.
    case dismiss(Int, isKept: Bool)
}

/// What of a page's model decides, and not only shows.
package struct PageTerms: Sendable, Hashable {
    package var isChecked = false
    package var needsCheck = true
    package var showsAlert = true
    package var alertLogsIn = true
    package var leadsOn = true
    package var keepsPage = false

    package init(_ model: NumberAuthPageModel = NumberAuthPageModel()) {
        isChecked = model.checkBoxIsChecked
        needsCheck = !model.checkBoxIsHidden
        showsAlert = model.privacyAlertIsShown
        alertLogsIn = model.privacyAlertLogsIn
        leadsOn = model.moreLoginAction == .otherLogin
        keepsPage = model.keepsPageOnDismissal
    }
}
