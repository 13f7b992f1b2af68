/// Bodies of the client API, in the SDK's own types; a contract test holds them equal to the schema
/// of the services. What a newer server says in words unknown here stays text.
package enum Wire {}

extension Wire {
    package struct Capabilities: Codable, Hashable, Sendable {
        package var numberAuth: Bool?
        package var smsCode: Bool?
        package var upgoingSMS: Bool?
        package var graphic: Bool?

        package init(
            numberAuth: Bool? = nil, smsCode: Bool? = nil, upgoingSMS: Bool? = nil,
            graphic: Bool? = nil
        ) {
            self.numberAuth = numberAuth
            self.smsCode = smsCode
            self.upgoingSMS = upgoingSMS
            self.graphic = graphic
        }
    }

    package struct Start: Codable, Hashable, Sendable {
        package let templateId: String
        package let deviceId: String?
        package let capabilities: Capabilities?
        package let locale: String?
    }

    /// What a node is told; exactly one thing, a number goes with `send`.
    package struct NodeInput: Codable, Hashable, Sendable {
        package var send: Bool?
        package var number: String?
        package var code: String?
        package var sent: Bool?
        package var carrierToken: String?
        package var failed: Int?
        package var otherLogin: Bool?
        package var proof: String?

        package init(
            send: Bool? = nil, number: String? = nil, code: String? = nil, sent: Bool? = nil,
            carrierToken: String? = nil, failed: Int? = nil, otherLogin: Bool? = nil,
            proof: String? = nil
        ) {
            self.send = send
            self.number = number
            self.code = code
            self.sent = sent
            self.carrierToken = carrierToken
            self.failed = failed
            self.otherLogin = otherLogin
            self.proof = proof
        }
    }

    package struct Input: Codable, Hashable, Sendable {
        package let step: Int
        package let input: NodeInput
    }

    /// Of continue and half-way.
    package struct Verdict: Codable, Hashable, Sendable {
        package let step: Int
        package let isSuccess: Bool
    }

    package enum RunState: String, Codable, Hashable, Sendable {
        case waiting, passed, failed, stopped, expired
    }

    package struct Upgoing: Codable, Hashable, Sendable {
        package let text: String
        package let receivingNumber: String

        package init(text: String, receivingNumber: String) {
            self.text = text
            self.receivingNumber = receivingNumber
        }
    }

    package struct NodeView: Codable, Hashable, Sendable {
        package var nodeId: String
        /// 2000001 …
        package var kind: Int
        package var nodeName: String
        package var halfway: Bool
        package var maskedNumber: String?
        /// `none` or `typed`.
        package var numberInput: String?
        package var codeLength: Int?
        package var codeType: Int?
        package var expiresAtMilliseconds: Int64?
        package var resendAtMilliseconds: Int64?
        package var sendsLeft: Int?
        package var delivery: String?
        package var upgoing: Upgoing?
        package var passed: Bool?
        package var prefilled: Bool?
        package var validityCheck: Bool?

        package init(nodeId: String, kind: Int, nodeName: String, halfway: Bool = false) {
            self.nodeId = nodeId
            self.kind = kind
            self.nodeName = nodeName
            self.halfway = halfway
        }
    }

    package struct SceneEvent: Codable, Hashable, Sendable {
        package let sequence: Int64
        package let atMilliseconds: Int64
        package let step: Int
        package let nodeId: String?
        package let kind: Int?
        package let resultCode: Int?
        package let name: String
        package let reason: String?
    }

    package struct SceneView: Codable, Hashable, Sendable {
        package var runId: String
        package var templateId: String
        package var step: Int
        package var state: RunState
        package var endCode: Int?
        package var resultCodes: [Int]
        package var node: NodeView?
        package var maskToken: String?
        package var applied: Bool?
        package var events: [SceneEvent]?
        package var runKey: String?
        package var reason: String?

        package init(
            runId: String, templateId: String, step: Int, state: RunState = .waiting,
            resultCodes: [Int] = [], node: NodeView? = nil
        ) {
            self.runId = runId
            self.templateId = templateId
            self.step = step
            self.state = state
            self.resultCodes = resultCodes
            self.node = node
        }
    }
}
