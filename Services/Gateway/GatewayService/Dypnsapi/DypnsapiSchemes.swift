import Messages
import Primitives

/// Schemes: their apps. Their policy has no place on this surface.
extension DypnsapiCall {
    func createSchemeConfig() async throws(DypnsapiError) -> DypnsapiAnswer {
        let app: AppIdentity
        switch try parameters.required("Platform") {
        case "iOS": app = AppIdentity(iosBundleId: try parameters.required("IosBundleId"))
        case "Android":
            app = AppIdentity(
                androidPackageName: try parameters.required("AndroidPackageName"),
                androidPackageSign: try parameters.required("AndroidPackageSign"))
        default: throw .invalid("Platform", "takes iOS or Android")
        }
        let code = try await create(
            app,
            [
                "app.iosBundleId": "IosBundleId",
                "app.androidPackageName": "AndroidPackageName",
                "app.androidPackageSign": "AndroidPackageSign",
            ])
        return ["Success": true, "Model": ["SchemeCode": .text(code)]]
    }

    /// Here a scheme of number authentication is one like any other.
    func createVerifyScheme() async throws(DypnsapiError) -> DypnsapiAnswer {
        let app: AppIdentity
        switch try parameters.required("OsType") {
        case "iOS": app = AppIdentity(iosBundleId: try parameters.required("BundleId"))
        case "Android":
            app = AppIdentity(
                androidPackageName: try parameters.required("PackName"),
                androidPackageSign: try parameters.required("PackSign"))
        case "Web": app = AppIdentity(webOrigin: try parameters.required("Origin"))
        default: throw .invalid("OsType", "takes iOS, Android or Web")
        }
        let code = try await create(
            app,
            [
                "app.iosBundleId": "BundleId", "app.androidPackageName": "PackName",
                "app.androidPackageSign": "PackSign", "app.webOrigin": "Origin",
            ])
        return [
            "Success": true, "HttpStatusCode": 200,
            "GateVerifySchemeDTO": ["SchemeCode": .text(code)],
        ]
    }

    /// Switches the scheme off: what it sent and verified stays on record.
    func deleteVerifyScheme() async throws(DypnsapiError) -> DypnsapiAnswer {
        let code = try scheme(try parameters.required("SchemeCode"))
        do throws(ServiceFailure) {
            let scheme = try await ask(DisableScheme(schemeCode: code))
            return ["Result": .flag(scheme.disabled)]
        } catch {
            throw DypnsapiFailure.ofSchemes(error)
        }
    }

    /// What an app is built with is the scheme's code alone; one that was deleted is not found.
    func describeVerifyScheme() async throws(DypnsapiError) -> DypnsapiAnswer {
        let code = try scheme(try parameters.required("SchemeCode"))
        let found: Scheme
        do throws(ServiceFailure) {
            found = try await ask(GetScheme(schemeCode: code))
        } catch {
            throw DypnsapiFailure.ofSchemes(error)
        }
        guard !found.disabled else { throw .sceneQueryFail }
        return ["SchemeQueryResultDTO": ["AppEncryptInfo": .text(found.schemeCode)]]
    }

    // MARK: -

    private func create(
        _ app: AppIdentity, _ names: [String: String]
    ) async throws(DypnsapiError) -> String {
        try requireAllSchemes()
        let request = CreateScheme(name: try parameters.required("SchemeName"), app: app)
        do throws(ServiceFailure) {
            return try await ask(request).schemeCode
        } catch {
            throw DypnsapiFailure.ofSchemes(error, names)
        }
    }
}
