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
    package var number = ""
    /// Of 100002.
    package var newNumber = ""
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
    private let plan: Plan
    private let phone: any PersonWithPhone
    private let wrongLeft: Locked<Int>
    /// The page in front, and the right code for it, once it came.
    private let front = Locked<(page: SMSCodeView, code: String?)?>(nil)

    init(_ plan: Plan, _ phone: any PersonWithPhone) {
        self.plan = plan
        self.phone = phone
        wrongLeft = Locked(plan.wrongCodes)
    }

    func present(_ page: FusionAuthPage) -> Bool {
        Task { await act(on: page) }
        return true
    }

    private func act(on page: FusionAuthPage) async {
        switch page {
        case .numberAuth(let view):
            view.setChecked(true)
            if plan.usesOneClick { view.login() } else { view.otherLogin() }
        case .smsCode(let view):
            let isNew = view.state.takesNumber && view.state.templateId == "100002"
            let number = isNew ? plan.newNumber : plan.number
            front.with { $0 = (view, nil) }
            await phone.clearInbox(of: number)
            view.send(number: view.state.takesNumber ? number : nil)
            guard let code = await phone.readCode(of: number) else { return view.back() }
            front.with { $0 = (view, code) }
            type()
        case .upGoing(let view):
            view.send()
            if !plan.lies {
                await phone.sendText(
                    view.smsContent, from: plan.number, to: view.receivingNumber)
            }
            view.alreadySent()
        case .graphic(let view): view.submit(proof: "human-\(UUID().uuidString)")
        }
    }

    private func type() {
        guard let (view, code) = front.with({ $0 }), let code else { return }
        let isWrong = wrongLeft.with { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        view.submit(code: isWrong ? Self.other(than: code) : code)
    }

    /// The app says that the code, or the number, is wrong.
    func wasRefused() {
        guard let (view, code) = front.with({ $0 }) else { return }
        if code == nil || plan.givesUp { view.back() } else { type() }
    }

    static func other(than code: String) -> String {
        guard let last = code.last?.wholeNumberValue else { return code + "0" }
        return code.dropLast() + String((last + 1) % 10)
    }
}

/// The carrier of that phone.
struct PhoneCarrier: CarrierTokenProvider {
    let phone: any PersonWithPhone
    let number: String

    func prepare() async throws(CarrierFailure) -> CarrierOffer {
        CarrierOffer(carrierName: "sandbox")
    }

    func token() async throws(CarrierFailure) -> CarrierToken {
        let (token, inner) = await phone.carrierToken(of: number)
        guard let token else {
            throw CarrierFailure(
                FusionAuthInnerCode(rawValue: inner), "the carrier gave no token")
        }
        return CarrierToken(token)
    }
}
