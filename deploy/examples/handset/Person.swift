import Foundation
import FusionAuth

/// A handset in somebody's hand: what arrives on it, what is sent from it, and its carrier.
package protocol PersonWithPhone: Sendable {
    /// What has arrived so far is of no interest any more.
    func clearInbox(of number: String) async
    /// The newest code that arrived at this number since then; nil when none does.
    func readCode(of number: String) async -> String?
    func sendText(_ text: String, from number: String, to receiver: String) async
    func carrierToken(of number: String) async -> (token: String?, innerCode: Int)
}

/// What the person is up to. Read from the command line.
package struct Plan: Sendable {
    /// Of the SIM, at first.
    package var number = ""
    /// The ones to change to, in this order.
    package var newNumbers: [String] = []
    package var templates: [String] = []
    package var usesOneClick = true
    /// So many wrong codes before the right one.
    package var wrongCodes = 0
    /// Gives up at the first wrong code instead of typing again.
    package var givesUp = false
    /// Says "already sent" without sending.
    package var lies = false
}

/// Does on each page what the plan says. Takes the place of views and of whoever looks at them.
final class Person: FusionAuthPresenter {
    private struct State {
        /// Of the SIM now.
        var number: String
        var newNumbers: [String]
        /// Not yet begun.
        var templatesLeft: [String]
        var templateId = ""
        /// What this scene is about: typed last, or filled in.
        var subject: String?
        var page: FusionAuthPage?
        /// The right one, once it came.
        var code: String?
        var wrongLeft: Int
        /// The right code was typed: if that was not good enough, nothing is.
        var hasTyped = false
        var work: Task<Void, Never>?
    }

    private let plan: Plan
    private let phone: any PersonWithPhone
    private let tell: @Sendable (String) -> Void
    private let state: Guarded<State>

    /// - Parameter tell: what the person does besides typing.
    init(
        _ plan: Plan, _ phone: any PersonWithPhone, tell: @escaping @Sendable (String) -> Void
    ) {
        self.plan = plan
        self.phone = phone
        self.tell = tell
        state = Guarded(
            State(
                number: plan.number, newNumbers: plan.newNumbers, templatesLeft: plan.templates,
                wrongLeft: plan.wrongCodes))
    }

    var number: String { state.with { $0.number } }

    func begin(_ templateId: String) {
        state.with {
            $0.templateId = templateId
            $0.subject = nil
            if !$0.templatesLeft.isEmpty { $0.templatesLeft.removeFirst() }
        }
    }

    /// The scene is over.
    func rest() { show(nil) { _ in } }

    /// The account has another number now, and so has the SIM.
    func moved(to number: String) { state.with { $0.number = number } }

    func present(_ page: FusionAuthPage) -> Bool {
        show(page) { await $0.act(on: page) }
        return true
    }

    private func show(
        _ page: FusionAuthPage?, _ act: @escaping @Sendable (Person) async -> Void
    ) {
        state.with {
            $0.work?.cancel()
            $0.page = page
            $0.code = nil
            $0.hasTyped = false
            $0.work = page == nil ? nil : Task { await act(self) }
        }
    }

    private func act(on page: FusionAuthPage) async {
        switch page {
        case .numberAuth(let view):
            view.setChecked(true)
            if plan.usesOneClick { view.login() } else { view.otherLogin() }
        case .smsCode(let view):
            let number = subject(takesNumber: view.state.takesNumber)
            await phone.clearInbox(of: number)
            view.send(number: view.state.takesNumber ? number : nil)
            let code = await phone.readCode(of: number)
            if Task.isCancelled { return }
            guard let code else { return view.back() }
            state.with { $0.code = code }
            type(view, code)
        case .upGoing(let view):
            view.send()
            if !plan.lies {
                let number = state.with { $0.subject ?? $0.number }
                tell("sends an SMS with the text of the page")
                await phone.sendText(view.smsContent, from: number, to: view.receivingNumber)
            }
            view.alreadySent()
        case .graphic(let view): view.submit(proof: "human-\(UUID().uuidString)")
        }
    }

    /// The number that goes with a page. 100002 needs a new one, 100004 takes one that is to spare.
    private func subject(takesNumber: Bool) -> String {
        state.with { state in
            let changes = state.templatesLeft.count { $0 == "100002" }
            let isNew = state.templateId == "100002"
            let binds = state.templateId == "100004" && state.newNumbers.count > changes
            var number = state.number
            if takesNumber, isNew || binds, !state.newNumbers.isEmpty {
                number = state.newNumbers.removeFirst()
            }
            state.subject = number
            return number
        }
    }

    private func type(_ view: SMSCodeView, _ code: String) {
        let isWrong = state.with { state in
            defer { state.wrongLeft = max(0, state.wrongLeft - 1) }
            state.hasTyped = state.wrongLeft == 0
            return state.wrongLeft > 0
        }
        view.submit(code: isWrong ? Self.other(than: code) : code)
    }

    /// The app left it at a message: types again, or leaves.
    /// - Returns: false where no page is shown.
    func takesTurn() -> Bool {
        let (page, code, hasTyped) = state.with { ($0.page, $0.code, $0.hasTyped) }
        switch page {
        case .smsCode(let view):
            if let code, !hasTyped, !plan.givesUp { type(view, code) } else { view.back() }
        case .numberAuth(let view): view.back()
        case .upGoing(let view): view.back()
        case .graphic(let view): view.back()
        case nil: return false
        }
        return true
    }

    static func other(than code: String) -> String {
        guard let last = code.last?.wholeNumberValue else { return code + "0" }
        return code.dropLast() + String((last + 1) % 10)
    }
}

/// The carrier of that phone.
struct PhoneCarrier: CarrierTokenProvider {
    let person: Person
    let phone: any PersonWithPhone

    func prepare() async throws(CarrierFailure) -> CarrierOffer {
        CarrierOffer(carrierName: "sandbox")
    }

    func token() async throws(CarrierFailure) -> CarrierToken {
        let (token, inner) = await phone.carrierToken(of: person.number)
        guard let token else {
            throw CarrierFailure(
                FusionAuthInnerCode(rawValue: inner), "the carrier gave no token")
        }
        return CarrierToken(token)
    }
}
