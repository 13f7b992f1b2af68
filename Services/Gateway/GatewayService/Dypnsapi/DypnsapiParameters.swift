import HTTPTypes

/// The parameters of one call, from query and form body. Names are case-sensitive, unknown ones are
/// ignored, and none is there twice: two places could read two values.
struct DypnsapiParameters: Sendable {
    typealias Pair = FormPairs.Pair

    static let formType = "application/x-www-form-urlencoded"

    /// What a V3 signature covers; of the body it covers the bytes.
    let query: [Pair]
    /// What an RPC signature covers.
    let all: [Pair]
    private let values: [String: String]

    init(_ request: HTTPRequest) throws(DypnsapiError) {
        guard let query = FormPairs(request.head.query ?? "") else {
            throw DypnsapiError.malformed
        }
        var all = query
        if request.mediaType == Self.formType, ACS3Authorization.admitsMediaType(request.headers) {
            guard let text = String(validating: request.body, as: UTF8.self),
                let form = FormPairs(text)
            else { throw DypnsapiError.malformed }
            all.append(form)
        }
        guard all.pairs.count <= FormPairs.countMax else { throw DypnsapiError.malformed }
        var values: [String: String] = [:]
        for pair in all.pairs {
            guard values.updateValue(pair.value, forKey: pair.name) == nil else {
                throw DypnsapiError.invalid(pair.name, "is given more than once")
            }
        }
        self.query = query.pairs
        self.all = all.pairs
        self.values = values
    }

    /// nil when absent or empty.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    func required(_ name: String) throws(DypnsapiError) -> String {
        guard let value = self[name] else { throw DypnsapiError.missing(name) }
        return value
    }

    /// Digits, perhaps with a minus in front; not `+5`, `5.0`, `0x5` or ` 5`.
    func integer(_ name: String) throws(DypnsapiError) -> Int64? {
        guard let text = self[name] else { return nil }
        guard !text.hasPrefix("+"), let number = Int64(text) else {
            throw DypnsapiError.invalid(name, "takes a whole number")
        }
        return number
    }

    /// In any case: some client libraries write `True`.
    func flag(_ name: String) throws(DypnsapiError) -> Bool? {
        switch self[name]?.lowercased() {
        case nil: nil
        case "true": true
        case "false": false
        default: throw DypnsapiError.invalid(name, "takes true or false")
        }
    }
}

extension [FormPairs.Pair] {
    /// `name=value` joined with `&`, encoded strictly, in order of the names' bytes.
    var canonical: String {
        sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            .map { PercentCoding.encode($0.name) + "=" + PercentCoding.encode($0.value) }
            .joined(separator: "&")
    }
}
