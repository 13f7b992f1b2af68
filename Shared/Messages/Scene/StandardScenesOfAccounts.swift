/// 100002…100005: the scenes of an account that exists already.
extension StandardScenes {
    /// Device risk → (graphic) → SMS to the old number, half-way → number risk → SMS to the new
    /// number; up-going SMS as the fall-back.
    static var numberChange: SceneGraph {
        let scene = SceneBuilder(changeNumber)
        return scene.graph(
            "Change phone number",
            [
                scene.deviceRisk(1, success: [3], failure: [5], graphic: [6, 3]),
                scene.graphic(6, success: [3], failure: [5]),
                scene.smsCode(3, prefilled: true, halfway: true, success: [2], failure: [5]),
                scene.numberRisk(2, guards: 4, success: [4], failure: [5]),
                scene.smsCode(
                    4, excludesOldNumber: true, success: [SceneBuilder.end], failure: [5]),
                scene.upgoing(5, success: [SceneBuilder.end]),
            ])
    }

    /// Device risk → (graphic) → number risk → SMS to the typed number, which must be the
    /// account's.
    static var passwordReset: SceneGraph {
        typedNumber(resetPassword, "Reset password", validityCheck: true)
    }

    /// The same without the check of the typed number.
    static var newNumber: SceneGraph {
        typedNumber(bindNewNumber, "Bind a new phone", validityCheck: false)
    }

    /// Device risk → (graphic) → SMS to the account's number; no number risk.
    static var boundNumber: SceneGraph {
        let scene = SceneBuilder(verifyBoundNumber)
        return scene.graph(
            "Verify the bound phone",
            [
                scene.deviceRisk(1, success: [2], failure: [3], graphic: [4, 2]),
                scene.graphic(4, success: [2], failure: [3]),
                scene.smsCode(2, prefilled: true, success: [SceneBuilder.end], failure: [3]),
                scene.upgoing(3, success: [SceneBuilder.end]),
            ])
    }

    private static func typedNumber(
        _ templateId: String, _ name: String, validityCheck: Bool
    ) -> SceneGraph {
        let scene = SceneBuilder(templateId)
        return scene.graph(
            name,
            [
                scene.deviceRisk(1, success: [2], failure: [4], graphic: [5, 2]),
                scene.graphic(5, success: [2], failure: [4]),
                scene.numberRisk(2, guards: 3, success: [3], failure: [4]),
                scene.smsCode(
                    3, validityCheck: validityCheck, success: [SceneBuilder.end], failure: [4]),
                scene.upgoing(4, success: [SceneBuilder.end]),
            ])
    }
}
