import Bus
import Effects
import Messages
import Primitives

/// The scheme that the page plays the app and the app's server of.
final class PhonePageScheme: Sendable {
    /// As `fusionctl up` names the scheme that it makes.
    static let name = "default"
    static let pagesMax = 10
    /// A scheme that was changed or made meanwhile is seen after so long.
    static let keptFor = Duration.seconds(5)

    private struct Found: Sendable {
        let scheme: Scheme
        let at: Duration
    }

    private let bus: any BusCaller
    private let code: String
    private let pause: any Pause
    private let found = Lock<Found?>(nil)

    init(bus: any BusCaller, code: String, pause: any Pause) {
        self.bus = bus
        self.code = code
        self.pause = pause
    }

    /// - Throws: `scheme_not_found` with what to do about it.
    func scheme(_ scope: RequestScope) async throws(ServiceFailure) -> Scheme {
        let now = pause.steadyNow()
        if let known = found.withLock({ $0 }), now - known.at < Self.keptFor { return known.scheme }
        let scheme = code.isEmpty ? try await search(scope) : try await named(scope)
        found.withLock { $0 = Found(scheme: scheme, at: now) }
        return scheme
    }

    /// Schemes belong to whoever made them; only an operator sees all. Nothing else is asked so.
    private func options(_ scope: RequestScope) -> CallOptions {
        scope.options(
            for: OnBehalfOf(role: Roles.operator.description, name: "phone-page"))
    }

    private func named(_ scope: RequestScope) async throws(ServiceFailure) -> Scheme {
        do throws(ServiceFailure) {
            return try await bus.call(GetScheme(schemeCode: code), options(scope))
        } catch {
            guard error.code == .schemeNotFound else { throw error }
            throw ServiceFailure(
                .schemeNotFound, "phonePageScheme of [gateway] names no scheme of this house")
        }
    }

    private func search(_ scope: RequestScope) async throws(ServiceFailure) -> Scheme {
        var after: String?
        for _ in 0..<Self.pagesMax {
            let page = try await bus.call(ListSchemes(after: after), options(scope))
            if let scheme = page.schemes.first(where: Self.isDefault) { return scheme }
            guard let next = page.next else { break }
            after = next
        }
        throw ServiceFailure(
            .schemeNotFound,
            "there is no scheme named \(Self.name): fusionctl up makes it, or name one in "
                + "phonePageScheme of [gateway]")
    }

    private static func isDefault(_ scheme: Scheme) -> Bool {
        scheme.name == name && !scheme.disabled && scheme.app.identity(at: nil) != nil
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
