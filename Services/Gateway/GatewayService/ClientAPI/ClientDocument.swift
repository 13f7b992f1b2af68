import Bus
import Messages

/// The OpenAPI 3.1 document of the client API. Its schemas are those that the bodies are held to and
/// those of the messages that are answered; only what HTTP adds is written here.
enum ClientDocument {
    /// One path and method.
    private struct Operation {
        let id: String
        let method: String
        let path: String
        let summary: String
        /// Reference to the schema; nil without a body.
        var body: JSONText?
        var isBodyRequired = true
        var status = 200
        let answer: JSONText
        var answerType = "application/json"
        var fields: [String] = []
        let failures: [Int]
        var isOpen = false
    }

    static func make(_ shapes: ClientShapes) throws -> JSONText {
        let answers = try MessageSchema.schemas(of: [
            ClientSession.self, SceneView.self, Problem.self, SceneEvent.self,
        ])
        var schemas = answers.definitions
        let bodies = [
            shapes.start.definitions, shapes.submit.definitions, shapes.answer.definitions,
            shapes.stop.definitions,
        ]
        for entry in bodies.flatMap(\.self)
        where !schemas.contains(where: { $0.name == entry.name }) {
            schemas.append(entry)
        }
        return .members([
            "openapi": .text("3.1.0"),
            "info": .members([
                "title": .text("FusionBus client API"), "version": .text("1"),
                "description": .text(
                    "Walks scenes for the holder of an auth token. Bodies take the properties that "
                        + "are named here and no others; answers may get new ones."),
            ]),
            "security": .array([.members(["authToken": .array([])])]),
            "paths": paths(operations(shapes, answers.schemas)),
            "components": .members([
                "securitySchemes": .members([
                    "authToken": .members([
                        "type": .text("http"), "scheme": .text("bearer"),
                        "description": .text("An auth token, issued for the app by its server."),
                    ])
                ]),
                "parameters": parameters, "headers": headers, "responses": problems,
                "schemas": .object(schemas.sorted { $0.name < $1.name }),
            ]),
        ])
    }

    // MARK: Operations

    /// Every call may meet these; the bus and its services speak through them.
    private static let always = [400, 401, 403, 404, 413, 429, 500, 503, 504]
    private static let moving = (always + [409, 415, 502]).sorted()

    private static func operations(
        _ shapes: ClientShapes, _ answers: [JSONText]
    ) -> [Operation] {
        let (session, view) = (answers[0], answers[1])
        let run = ["runId", "runKey"]
        let move = run + ["requestKey"]
        return [
            Operation(
                id: "session", method: "get", path: "/session",
                summary: "What this token is for, and what it can start", answer: session,
                failures: always),
            Operation(
                id: "scenes.start", method: "post", path: "/scenes",
                summary: "Starts a run; the one answer with its key", body: shapes.start.schema,
                status: 201, answer: view, fields: ["requestKey"], failures: moving),
            Operation(
                id: "scenes.get", method: "get", path: "/scenes/{runId}",
                summary: "Where a run stands", answer: view, fields: run, failures: always),
            Operation(
                id: "scenes.input", method: "post", path: "/scenes/{runId}/input",
                summary: "Tells the current node exactly one thing; a number goes with send",
                body: shapes.submit.schema, answer: view, fields: move, failures: moving),
            Operation(
                id: "scenes.continue", method: "post", path: "/scenes/{runId}/continue",
                summary: "Moves on: on success only with a PASS on record",
                body: shapes.answer.schema, answer: view, fields: move, failures: moving),
            Operation(
                id: "scenes.halfway", method: "post", path: "/scenes/{runId}/halfway",
                summary: "The same for a half-way node; false changes nothing",
                body: shapes.answer.schema, answer: view, fields: move, failures: moving),
            Operation(
                id: "scenes.stop", method: "post", path: "/scenes/{runId}/stop",
                summary: "Ends the run now", body: shapes.stop.schema, isBodyRequired: false,
                answer: view, fields: move, failures: moving),
            Operation(
                id: "scenes.events", method: "get", path: "/scenes/{runId}/events",
                summary: "Events as they happen: data is a SceneEvent; the last event is named "
                    + "end, its data is a SceneView",
                answer: .members(["type": .text("string")]), answerType: "text/event-stream",
                fields: run + ["lastEvent"], failures: always),
            Operation(
                id: "openapi", method: "get", path: "/openapi.json", summary: "This document",
                answer: .members(["type": .text("object")]), failures: [413, 503], isOpen: true),
        ]
    }

    private static func paths(_ operations: [Operation]) -> JSONText {
        .object(
            operations.map { operation in
                JSONText.Member(
                    name: ClientAPI.base + operation.path,
                    value: .object([
                        JSONText.Member(name: operation.method, value: describe(operation))
                    ]))
            })
    }

    private static func describe(_ operation: Operation) -> JSONText {
        var text = JSONText.members([
            "operationId": .text(operation.id), "summary": .text(operation.summary),
        ])
        if operation.isOpen { text = text.adding("security", .array([])) }
        if !operation.fields.isEmpty {
            text = text.adding(
                "parameters",
                .array(operation.fields.map { reference("parameters", $0) }))
        }
        if let body = operation.body {
            text = text.adding(
                "requestBody",
                .members([
                    "required": .flag(operation.isBodyRequired),
                    "content": content("application/json", body),
                ]))
        }
        let success = JSONText.Member(
            name: "\(operation.status)",
            value: .members([
                "description": .text(operation.status == 201 ? "It was made." : "It was done."),
                "headers": .members(["X-Request-Id": reference("headers", "requestId")]),
                "content": content(operation.answerType, operation.answer),
            ]))
        let failures = operation.failures.map {
            JSONText.Member(name: "\($0)", value: reference("responses", "problem\($0)"))
        }
        return text.adding("responses", .object([success] + failures))
    }

    private static func content(_ type: String, _ schema: JSONText) -> JSONText {
        .object([JSONText.Member(name: type, value: .members(["schema": schema]))])
    }

    private static func reference(_ kind: String, _ name: String) -> JSONText {
        .members(["$ref": .text("#/components/\(kind)/\(name)")])
    }

    // MARK: Components

    private static let visibleText = JSONText.members([
        "type": .text("string"), "pattern": .text("^[!-~]+$"), "minLength": .integer(1),
        "maxLength": .integer(Int64(CallContext.requestKeyBytesMax)),
    ])

    private static func parameter(
        _ name: String, in place: String, _ text: String, _ schema: JSONText,
        isRequired: Bool = false
    ) -> JSONText {
        .members([
            "name": .text(name), "in": .text(place), "required": .flag(isRequired),
            "description": .text(text), "schema": schema,
        ])
    }

    private static let parameters = JSONText.members([
        "runId": parameter(
            "runId", in: "path", "From the start of the run.",
            .members(["type": .text("string"), "minLength": .integer(1)]), isRequired: true),
        "runKey": parameter(
            ClientRequest.runKeyField, in: "header",
            "The run's key, from the answer that started it. Never part of a URL.", visibleText,
            isRequired: true),
        "requestKey": parameter(
            ClientRequest.requestKeyField, in: "header",
            "Makes the call safe to repeat for 24 hours: the same key gets the same answer, with "
                + "another body a conflict.", visibleText),
        "lastEvent": parameter(
            ClientRequest.lastEventField, in: "header", "Events after this one are told.",
            .members(["type": .text("integer"), "minimum": .integer(0)])),
    ])

    private static let headers = JSONText.members([
        "requestId": .members([
            "description": .text("Names this request in the gateway's log."),
            "schema": .members(["type": .text("string")]),
        ]),
        "retryAfter": .members([
            "description": .text("Whole seconds to wait before the next try."),
            "schema": .members(["type": .text("integer"), "minimum": .integer(1)]),
        ]),
        "challenge": .members([
            "description": .text("RFC 6750."), "schema": .members(["type": .text("string")]),
        ]),
    ])

    private static let problems = JSONText.object(
        [400, 401, 403, 404, 409, 413, 415, 429, 500, 502, 503, 504].map { status in
            var headers = [
                JSONText.Member(name: "X-Request-Id", value: reference("headers", "requestId"))
            ]
            if status == 401 {
                headers.append(
                    JSONText.Member(
                        name: "WWW-Authenticate", value: reference("headers", "challenge")))
            }
            if status == 429 || status == 503 {
                headers.append(
                    JSONText.Member(name: "Retry-After", value: reference("headers", "retryAfter")))
            }
            return JSONText.Member(
                name: "problem\(status)",
                value: .members([
                    "description": .text(HTTPStatus.title(status)), "headers": .object(headers),
                    "content": content(Problem.type, problemSchema),
                ]))
        })

    private static let problemSchema = JSONText.members([
        "$ref": .text("#/components/schemas/Problem")
    ])
}
