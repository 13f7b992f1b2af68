import Primitives

/// The schema of the bus as a document, made of the message types themselves.
package enum MessageSchema {
    /// One request and one reply with every field set.
    package static func samples<Request: BusRequest>(
        of type: Request.Type
    ) throws -> (request: Request, reply: Request.Reply) {
        let recorder = SchemaRecorder()
        return (
            try recorder.record(type, field: "").sample,
            try recorder.record(Request.Reply.self, field: "").sample
        )
    }

    /// AsyncAPI 3.0: a channel per service, an operation per method, the messages as JSON-RPC 2.0
    /// bodies.
    package static func asyncAPI(
        of requests: [any BusRequest.Type] = MessageCatalog.requests
    ) throws -> JSONText {
        let recorder = SchemaRecorder()
        var services: [String] = []
        var messages: [JSONText.Member] = []
        var operations: [JSONText.Member] = []
        for request in requests {
            let method = request.method
            if !services.contains(method.service) { services.append(method.service) }
            messages += try bodies(of: request, recorder)
            operations.append(operation(method))
        }
        let channels = services.map { service in
            JSONText.Member(name: service, value: channel(service, requests.map { $0.method }))
        }
        let schemas =
            envelopes
            + recorder.definitions.sorted { $0.key < $1.key }.map {
                JSONText.Member(name: $0.key, value: $0.value)
            }
        return .members([
            "asyncapi": .text("3.0.0"),
            "info": .members([
                "title": .text("FusionBus"), "version": .text("1"),
                "description": .text(
                    "Requests and replies of the bus: JSON-RPC 2.0 bodies in Majordomo frames. "
                        + "The channel is the Majordomo service. New fields are optional; an "
                        + "incompatible change is a new method."),
            ]),
            "defaultContentType": .text("application/json"),
            "channels": .object(channels),
            "operations": .object(operations),
            "components": .members([
                "messages": .object(messages), "schemas": .object(schemas),
            ]),
        ])
    }

    // MARK: -

    private static func bodies<Request: BusRequest>(
        of type: Request.Type, _ recorder: SchemaRecorder
    ) throws -> [JSONText.Member] {
        let name = type.method.name
        let request = try recorder.record(type, field: "").schema
        let reply = try recorder.record(type.Reply.self, field: "").schema
        let requestBody = body(
            [
                ("method", .members(["const": .text(name)])), ("params", request),
                ("meta", SchemaRecorder.reference("Meta")),
            ], required: ["method"])
        let replyBody = JSONText.members([
            "oneOf": .array([
                body([("result", reply)], required: ["id", "result"]),
                SchemaRecorder.reference("ErrorReply"),
            ])
        ])
        return [
            JSONText.Member(name: name, value: .members(["payload": requestBody])),
            JSONText.Member(name: "\(name).reply", value: .members(["payload": replyBody])),
        ]
    }

    private static func body(
        _ fields: [(String, JSONText)], required: [String]
    ) -> JSONText {
        let properties =
            [("jsonrpc", JSONText.members(["const": .text("2.0")])), ("id", identifier)] + fields
        return .members([
            "type": .text("object"),
            "properties": .object(properties.map { JSONText.Member(name: $0.0, value: $0.1) }),
            "required": .texts(["jsonrpc"] + required),
        ])
    }

    private static let identifier = JSONText.members([
        "type": .texts(["string", "number", "null"])
    ])

    private static func channel(_ service: String, _ methods: [Method]) -> JSONText {
        let names = methods.filter { $0.service == service }
            .flatMap { [$0.name, "\($0.name).reply"] }
        return .members([
            "address": .text(service),
            "messages": .object(
                names.map {
                    JSONText.Member(
                        name: $0, value: reference("#/components/messages/\($0)"))
                }),
        ])
    }

    private static func operation(_ method: Method) -> JSONText.Member {
        let channel = "#/channels/\(method.service)"
        func message(_ name: String) -> JSONText {
            .array([reference("\(channel)/messages/\(name)")])
        }
        return JSONText.Member(
            name: method.name,
            value: .members([
                "action": .text("receive"), "channel": reference(channel),
                "messages": message(method.name),
                "reply": .members([
                    "channel": reference(channel), "messages": message("\(method.name).reply"),
                ]),
                "x-effect": .text(method.effect == .read ? "read" : "write"),
                "x-callers": .texts(method.callers.names),
                "x-timeoutMilliseconds": .integer(method.timeout.wholeMilliseconds),
            ]))
    }

    private static func reference(_ target: String) -> JSONText {
        .members(["$ref": .text(target)])
    }

    /// What surrounds every method's own types; the types are those of the bus module.
    private static let envelopes: [JSONText.Member] = {
        func text() -> JSONText { .members(["type": .text("string")]) }
        func integer() -> JSONText { .members(["type": .text("integer")]) }
        return [
            JSONText.Member(
                name: "Meta",
                value: .members([
                    "type": .text("object"),
                    "properties": .members([
                        "requestKey": .members([
                            "type": .text("string"), "minLength": .integer(1),
                            "maxLength": .integer(128),
                        ]),
                        "timeoutMilliseconds": integer(), "traceparent": text(),
                        "onBehalfOf": .members([
                            "type": .text("object"),
                            "properties": .members(["role": text(), "name": text()]),
                            "required": .texts(["role", "name"]),
                        ]),
                    ]),
                ])),
            JSONText.Member(
                name: "ErrorReply",
                value: body(
                    [
                        (
                            "error",
                            .members([
                                "type": .text("object"),
                                "properties": .members([
                                    "code": integer(), "message": text(),
                                    "data": .members([
                                        "type": .text("object"),
                                        "properties": .members([
                                            "reason": text(), "field": text(),
                                            "retryAfterMilliseconds": integer(),
                                        ]),
                                    ]),
                                ]),
                                "required": .texts(["code", "message"]),
                            ])
                        )
                    ], required: ["id", "error"])),
        ]
    }()
}
