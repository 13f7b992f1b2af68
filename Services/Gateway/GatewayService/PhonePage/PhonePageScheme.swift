import Bus
import Effects
import Messages
import Primitives

/// The scheme that the page plays the app and the app's server of: one that an operator named, or
/// the one whose code the home keeps. Never one found by its name, which whoever holds an API key may
/// give to a scheme of theirs.
final class PhonePageScheme: Sendable {
    /// A scheme that was changed or made meanwhile is seen after so long.
    static let keptFor = Duration.seconds(5)

    private struct Found: Sendable {
        let scheme: Scheme
        let at: Duration
    }

    private let bus: any BusCaller
    private let code: String
    private let homeCode: @Sendable () -> String?
    private let pause: any Pause
    private let found = Lock<Found?>(nil)

    /// - Parameters:
    ///   - code: of the configuration; empty asks the home.
    ///   - homeCode: what `fusionctl up` wrote; asked at each refresh.
    init(
        bus: any BusCaller, code: String, homeCode: @escaping @Sendable () -> String?,
        pause: any Pause
    ) {
        self.bus = bus
        self.code = code
        self.homeCode = homeCode
        self.pause = pause
    }

    /// - Throws: `scheme_not_found` with what to do about it.
    func scheme(_ scope: RequestScope) async throws(ServiceFailure) -> Scheme {
        let now = pause.steadyNow()
        if let known = found.withLock({ $0 }), now - known.at < Self.keptFor { return known.scheme }
        guard let wanted = code.isEmpty ? homeCode() : code else {
            throw ServiceFailure(
                .schemeNotFound,
                "this home has no default scheme: fusionctl up makes it, or name one in "
                    + "phonePageScheme of [gateway]")
        }
        let scheme = try await named(wanted, scope)
        found.withLock { $0 = Found(scheme: scheme, at: now) }
        return scheme
    }

    /// Schemes belong to whoever made them; only an operator sees all. Nothing else is asked so.
    private func named(
        _ wanted: String, _ scope: RequestScope
    ) async throws(ServiceFailure) -> Scheme {
        let options = scope.options(
            for: OnBehalfOf(role: Roles.operator.description, name: "phone-page"))
        do throws(ServiceFailure) {
            return try await bus.call(GetScheme(schemeCode: wanted), options)
        } catch {
            guard error.code == .schemeNotFound else { throw error }
            throw ServiceFailure(
                .schemeNotFound,
                code.isEmpty
                    ? "the default scheme of this home is gone: fusionctl up makes another"
                    : "phonePageScheme of [gateway] names no scheme of this house")
        }
    }
}

/// The app that the page says to be.
struct PlayedApp: Sendable, Hashable {
    let platform: AppPlatform
    let name: String
}

extension AppIdentity {
    /// The web app where the page's own origin is the scheme's, so that its SMS fill themselves in;
    /// else the phone app. nil: the scheme admits no app that a page could play.
    func identity(at origin: String?) -> PlayedApp? {
        if let webOrigin, webOrigin == origin {
            return PlayedApp(platform: .web, name: webOrigin)
        }
        if let iosBundleId { return PlayedApp(platform: .ios, name: iosBundleId) }
        if androidPackageSign != nil, let androidPackageName {
            return PlayedApp(platform: .android, name: androidPackageName)
        }
        return nil
    }
}
