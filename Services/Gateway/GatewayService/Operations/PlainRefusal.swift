import HTTPTypes

/// Refusals in plain words, for paths that have no error shape of their own.
enum PlainRefusal {
    static func answer(_ refusal: EdgeRefusal) -> HTTPResponse {
        switch refusal {
        case .notFound: .text(404, "there is nothing here\n")
        case .methodNotAllowed: .text(405, "this path takes other methods, see Allow\n")
        case .badRequest: .text(400, "the request could not be read\n")
        case .bodyTooLarge(let bytesMax):
            .text(413, "the body may have \(bytesMax) bytes at most\n")
        case .unavailable: .text(503, "not at the moment; try again\n")
        }
    }
}
