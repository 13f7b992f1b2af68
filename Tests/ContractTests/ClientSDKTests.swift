import Foundation
import FusionAuth
import Messages
import Primitives
import Testing

/// The client SDK goes into apps without the schema; its own types must say the same.
@Suite("The client SDK's wire types")
struct ClientSDKTests {
    @Test("a view, an input and a template are read and written by both sides, with every field")
    func bothWays() throws {
        let view = try MessageSchema.samples(of: SubmitInput.self).reply
        try check(view, as: Wire.SceneView.self)
        try checkComplete(JSONDecoder().decode(Wire.SceneView.self, from: encoded(view)))
        let submit = try MessageSchema.samples(of: SubmitInput.self).request
        try check(submit.input, as: Wire.NodeInput.self)
        let templates = try MessageSchema.samples(of: ListTemplates.self).reply
        for template in templates.templates { try check(template, as: Wire.Template.self) }
        #expect(!templates.templates.isEmpty)
    }

    @Test("bodies of the SDK's requests are the requests without what the path and headers say")
    func requests() throws {
        let start = try MessageSchema.samples(of: StartScene.self).request
        try check(start, as: Wire.Start.self, without: ["authToken", "address"])
        let submit = try MessageSchema.samples(of: SubmitInput.self).request
        let elsewhere: Set = ["authToken", "runId", "runKey"]
        try check(submit, as: Wire.Input.self, without: elsewhere)
        let proceed = try MessageSchema.samples(of: ContinueScene.self).request
        try check(proceed, as: Wire.Verdict.self, without: elsewhere)
        let halfway = try MessageSchema.samples(of: AnswerHalfway.self).request
        try check(halfway, as: Wire.Verdict.self, without: elsewhere)
    }

    @Test("the SDK knows every state, and every kind that waits, by the same words")
    func words() throws {
        for state in RunState.allCases {
            #expect(Wire.RunState(rawValue: state.rawValue) != nil, "\(state)")
        }
        let kinds: [NodeKind: Int] = [
            .numberAuth: Wire.Kind.numberAuth, .smsCode: Wire.Kind.smsCode,
            .upgoingSMS: Wire.Kind.upgoingSMS, .graphic: Wire.Kind.graphic,
            .deviceRisk: Wire.Kind.deviceRisk,
        ]
        for (kind, number) in kinds { #expect(kind.rawValue == number) }
        #expect(NumberInput.allCases.map(\.rawValue) == ["none", "typed"])
    }

    // MARK: -

    private func encoded(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// - Parameter names: fields that the other side says elsewhere.
    private func check<Theirs: Codable, Ours: Codable>(
        _ theirs: Theirs, as ours: Ours.Type, without names: Set<String> = []
    ) throws {
        let whole = try encoded(theirs)
        var fields = try #require(
            JSONSerialization.jsonObject(with: whole) as? [String: Any], "\(Theirs.self)")
        for name in names {
            #expect(fields.removeValue(forKey: name) != nil, "\(Theirs.self).\(name)")
        }
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        let body = try JSONSerialization.data(withJSONObject: fields, options: options)
        // There: nothing is lost. Back: nothing is added, and it can be read.
        let rewritten = try encoded(try JSONDecoder().decode(ours, from: body))
        let text = String(decoding: rewritten, as: UTF8.self)
        #expect(text == String(decoding: body, as: UTF8.self), "\(Ours.self)")
        guard names.isEmpty else { return }
        let back = try encoded(try JSONDecoder().decode(Theirs.self, from: rewritten))
        #expect(back == whole, "\(Theirs.self)")
    }

    /// No field of ours is left empty by a value that has them all.
    private func checkComplete(_ value: Any) {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            #expect(mirror.children.first != nil, "a field that the schema does not have")
        }
        for child in mirror.children { checkComplete(child.value) }
    }
}
