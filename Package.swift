// swift-tools-version: 6.2
import PackageDescription

/// One package. A target's place in the house (who may import whom) is the table that
/// `Tests/ArchitectureTests` holds; this file only lists targets with their paths.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

func shared(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Shared/\(name)", swiftSettings: strict)
}

func cModule(_ name: String) -> Target { .systemLibrary(name: name, path: "Shared/\(name)") }

func cxx(_ name: String, _ settings: [LinkerSetting] = []) -> Target {
    .target(name: name, path: "Shared/\(name)", linkerSettings: settings)
}

/// A service library in `Services/<folder>/<name>`.
func service(_ folder: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Services/\(folder)/\(name)",
        swiftSettings: strict)
}

/// A thin executable in `Services/<folder>/<name>`: one service library, the wiring, the daemon kit.
func executable(_ folder: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Services/\(folder)/\(name)",
        swiftSettings: strict)
}

func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: strict)
}

let domain: [Target.Dependency] = ["Primitives", "Effects", "Messages", "Bus", "Storage"]
let clients: [Target.Dependency] = ["Primitives", "Effects", "Messages", "Bus"]
let daemon: [Target.Dependency] = [
    "Primitives", "Effects", "Messages", "Bus", "DaemonKit", "Wiring",
]
let kit: [Target.Dependency] = [
    "Primitives", "Effects", "Messages", "Bus", "Storage", "TestKit",
]

let package = Package(
    name: "FusionBus",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "FusionAuth", targets: ["FusionAuth"]),
        .library(name: "BusClient", targets: ["BusClient", "Messages", "ZeroMQTransport"]),
        .executable(name: "fusion-broker", targets: ["fusion-broker"]),
        .executable(name: "fusion-token", targets: ["fusion-token"]),
        .executable(name: "fusion-verification", targets: ["fusion-verification"]),
        .executable(name: "fusion-smscode", targets: ["fusion-smscode"]),
        .executable(name: "fusion-scene", targets: ["fusion-scene"]),
        .executable(name: "fusion-gateway", targets: ["fusion-gateway"]),
        .executable(name: "fusion-sandbox", targets: ["fusion-sandbox"]),
        .executable(name: "fusion-echo", targets: ["fusion-echo"]),
        .executable(name: "fusionctl", targets: ["fusionctl"]),
        .executable(name: "handset", targets: ["handset"]),
    ],
    targets: [
        // Layers 0 to 2
        shared("Primitives"),
        shared("Effects", ["Primitives"]),
        shared("Messages", ["Primitives"]),
        shared("Bus", ["Primitives", "Effects", "Messages"]),
        shared("Storage", ["Primitives", "Effects"]),
        shared("Majordomo", ["Primitives"]),
        shared("HTTPTypes"),

        // Layer 3
        service("Token", "TokenService", domain),
        service("Verification", "VerificationService", domain),
        service("SMSCode", "SMSCodeService", domain),
        service("Scene", "SceneService", domain),
        service("Echo", "EchoService", domain),
        service("Sandbox", "SandboxService", clients),
        service("Gateway", "GatewayService", clients + ["HTTPTypes"]),
        service("Broker", "Broker", ["Primitives", "Effects", "Majordomo"]),
        service("Control", "FusionctlCommands", clients + ["HTTPTypes"]),
        // The library for backend teams brings its transport along.
        shared("BusClient", clients + ["ZeroMQTransport"]),
        // The client SDK for app teams: Foundation alone.
        .target(
            name: "FusionAuth", path: "Shared/FusionAuth", exclude: ["README.md"],
            swiftSettings: strict),

        // Layer 4
        cModule("CLinux"),
        cModule("CZeroMQ"),
        cModule("CSQLite"),
        cModule("CSodium"),
        cModule("CGnuTLS"),
        cModule("CCurl"),
        cxx("CPhone", [.linkedLibrary("phonenumber")]),
        cxx("CToml"),
        cxx("CMicroHTTP", [.linkedLibrary("microhttpd"), .linkedLibrary("gnutls")]),
        shared(
            "ZeroMQTransport",
            ["Primitives", "Effects", "Messages", "Bus", "Majordomo", "CZeroMQ", "CLinux"]),
        shared("SQLiteStorage", ["Primitives", "Effects", "Storage", "CSQLite", "CLinux"]),
        shared("Cryptography", ["Primitives", "Effects", "CSodium"]),
        shared("TokenKeys", ["Primitives", "Effects", "CGnuTLS"]),
        shared("PhoneNumbers", ["Primitives", "Effects", "CPhone"]),
        shared("HTTPClient", ["Primitives", "HTTPTypes", "CCurl", "CLinux"]),
        shared(
            "HTTPServer", ["Primitives", "Effects", "HTTPTypes", "CMicroHTTP", "CLinux"]),
        shared("DaemonKit", ["Primitives", "Effects", "Messages", "Bus", "CToml", "CLinux"]),

        // Layer 5
        shared(
            "Wiring",
            [
                "Primitives", "Effects", "Messages", "Bus", "Storage", "Majordomo",
                "ZeroMQTransport", "SQLiteStorage", "Cryptography", "PhoneNumbers", "DaemonKit",
                "TokenKeys", "Broker", "HTTPTypes", "HTTPServer", "HTTPClient",
            ]),
        executable("Broker", "fusion-broker", daemon + ["Broker"]),
        executable("Token", "fusion-token", daemon + ["Storage", "TokenService"]),
        executable(
            "Verification", "fusion-verification", daemon + ["Storage", "VerificationService"]),
        executable("SMSCode", "fusion-smscode", daemon + ["Storage", "SMSCodeService"]),
        executable("Scene", "fusion-scene", daemon + ["Storage", "SceneService"]),
        // Files of the gateway's pages as C arrays.
        .target(name: "CPages", path: "Services/Gateway/CPages"),
        executable(
            "Gateway", "fusion-gateway", daemon + ["HTTPTypes", "GatewayService", "CPages"]),
        executable("Sandbox", "fusion-sandbox", daemon + ["SandboxService"]),
        executable("Echo", "fusion-echo", daemon + ["Storage", "EchoService"]),
        // A sample app over the client SDK.
        .executableTarget(
            name: "handset", dependencies: ["FusionAuth"], path: "deploy/examples/handset",
            exclude: ["README.md"], swiftSettings: strict),
        executable("Control", "fusionctl", daemon + ["HTTPTypes", "FusionctlCommands"]),

        // Tests
        support("TestKit", ["Primitives", "Effects", "Messages", "Bus", "Storage"]),
        support(
            "SimulationKit",
            kit + [
                "TokenService", "VerificationService", "SMSCodeService", "SceneService",
                "SandboxService",
            ]),
        .executableTarget(
            name: "simulate", dependencies: ["SimulationKit"], path: "Tests/simulate",
            swiftSettings: strict),
        tests("PrimitivesTests", ["Primitives", "Effects"]),
        tests("MajordomoTests", ["Majordomo", "TestKit"]),
        tests("BusTests", kit),
        tests("StorageTests", kit + ["SQLiteStorage"]),
        tests("ZeroMQTransportTests", kit + ["ZeroMQTransport", "Broker", "EchoService"]),
        tests("CryptographyTests", ["Cryptography", "Effects", "Primitives"]),
        tests("TokenKeysTests", ["TokenKeys", "Effects", "Primitives"]),
        tests("PhoneNumbersTests", ["PhoneNumbers", "Effects", "Primitives"]),
        tests("HTTPClientTests", ["Primitives", "HTTPTypes", "HTTPClient"]),
        // A real process for the tests of DaemonKit.
        .executableTarget(
            name: "daemon-probe", dependencies: ["Primitives", "Effects", "DaemonKit"],
            path: "Tests/DaemonProbe", swiftSettings: strict),
        tests("DaemonKitTests", ["DaemonKit", "CLinux", "Effects", "Primitives", "daemon-probe"]),
        tests("TokenServiceTests", kit + ["TokenService", "Cryptography", "ServiceTestKit"]),
        tests("VerificationServiceTests", kit + ["VerificationService", "ServiceTestKit"]),
        tests(
            "SMSCodeServiceTests", kit + ["SMSCodeService", "SandboxService", "ServiceTestKit"]),
        tests("SceneServiceTests", kit + ["SceneService", "ServiceTestKit"]),
        tests("HTTPServerTests", ["HTTPServer", "HTTPTypes", "Effects", "Primitives"]),
        tests(
            "GatewayServiceTests", kit + ["HTTPTypes", "GatewayService", "Cryptography"]),
        tests("SandboxServiceTests", kit + ["SandboxService", "ServiceTestKit"]),
        tests("ControlTests", kit + ["HTTPTypes", "FusionctlCommands", "ServiceTestKit"]),
        tests("ContractTests", kit + ["FusionAuth"]),
        tests("FusionAuthTests", ["FusionAuth", "handset"]),
        tests("ArchitectureTests", []),
        tests("SimulationTests", kit + ["SimulationKit"]),
        // The one support target that may reach adapters: it runs a test body over real sockets.
        support(
            "ServiceTestKit",
            kit + [
                "ZeroMQTransport", "Broker", "SQLiteStorage", "Cryptography", "PhoneNumbers",
            ]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
