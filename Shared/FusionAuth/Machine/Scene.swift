import Foundation

/// One scene from start to finish.
struct Scene: Sendable, Hashable {
    let templateId: String
    var runId: String?
    var runKey: String?
    /// Of the run, as last seen.
    var step = 0
    var node: Wire.NodeView?
    var page: PageState?
    var terms = PageTerms()
    var isLoading = false
    /// `stopScene` was called.
    var isStopping = false
    var stopID: Int?

    /// One request at a time.
    var call: SceneCall?
    /// What the app decided while a call was under way.
    var queuedVerdict: Wire.Verdict?

    // At the current node
    /// A mask token was won here.
    var hasEvidence = false
    /// The half-way answer that is still open.
    var halfwayID: Int?
    var carrierWork: CarrierWork?
    var carrierFailure: CarrierFailure?
    var numberAsk: NumberAsk?
    /// From the app, at a pre-filled node.
    var givenNumber: String?
    /// Typed while the answer to "send" was under way: an SMS can be faster, and so can autofill.
    var heldCode: String?
    /// From the person; a resend need not say it again.
    var typedNumber: String?
    var composeID: Int?

    init(_ templateId: String) { self.templateId = templateId }

    /// A press that starts something would start a second thing.
    var isBusy: Bool {
        call != nil || carrierWork != nil || numberAsk != nil || composeID != nil || isStopping
    }

    mutating func arrive(_ node: Wire.NodeView, _ page: PageState, step: Int) {
        self = Self(keeping: self)
        self.node = node
        self.page = page
        self.step = step
    }

    /// What belongs to one node does not outlive it.
    private init(keeping old: Self) {
        templateId = old.templateId
        runId = old.runId
        runKey = old.runKey
        isLoading = old.isLoading
        isStopping = old.isStopping
        stopID = old.stopID
        queuedVerdict = old.queuedVerdict
    }
}

enum CarrierWork: Sendable, Hashable {
    case preparing(Int)
    case fetching(Int)

    var id: Int {
        switch self {
        case .preparing(let id), .fetching(let id): id
        }
    }
}

struct NumberAsk: Sendable, Hashable {
    enum Purpose: Sendable, Hashable {
        case fillIn
        case compare(typed: String)
    }
    let id: Int
    let purpose: Purpose
}

/// A request of the scene, kept so that it can be sent again as it was.
struct SceneCall: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case start, proceed, halfway, stop, read
        case send, code, sent, otherLogin, proof
        case carrierToken
        /// `atInit`: before the page was shown.
        case carrierFailed(atInit: Bool)
    }
    let kind: Kind
    let method: String
    let path: String
    let body: Data?
    let key: String?
    var id = 0
    var tries = 0
    var pauseID: Int?
    /// Waits for another token, which it gets once.
    var isParked = false
    var hasNewToken = false
}
