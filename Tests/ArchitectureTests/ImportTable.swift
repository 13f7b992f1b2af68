/// Who may import whom, as data. What is not listed is refused. System modules stand beside.
enum ImportTable {
    struct Room {
        let modules: Set<String>
        /// Modules of the toolchain and the C library.
        let system: Set<String>
        /// Where code belongs that needs a forbidden module.
        let advice: String
    }

    private static let essentials: Set<String> = ["FoundationEssentials"]
    private static let domain = Room(
        modules: ["Primitives", "Effects", "Messages", "Bus", "Storage"], system: essentials,
        advice: "declare a port here and let Wiring hand in the adapter")
    private static let clients = Room(
        modules: ["Primitives", "Effects", "Messages", "Bus"], system: essentials,
        advice: "a client of the bus speaks messages only")

    private static func adapter(_ modules: Set<String>, _ system: Set<String> = []) -> Room {
        Room(
            modules: modules.union(["Primitives", "Effects"]),
            system: system.union(["FoundationEssentials", "Glibc", "Darwin", "Synchronization"]),
            advice: "adapters know layers 0 to 2 and one C module; they meet in Wiring")
    }

    /// - Parameter files: a C module of files that are part of the executable.
    private static func executable(_ service: String, _ files: String? = nil) -> Room {
        Room(
            modules: [
                "Primitives", "Effects", "Messages", "Bus", "Storage", "HTTPTypes", "Wiring",
                "DaemonKit", service, files ?? service,
            ],
            system: essentials, advice: "an executable only wires one service library")
    }

    /// Folder below the root → what its files may import.
    static let rooms: [(folder: String, room: Room)] = [
        (
            "Shared/Primitives",
            Room(modules: [], system: ["Glibc", "Darwin"], advice: "layer 0 imports nothing")
        ),
        (
            "Shared/Effects",
            Room(
                modules: ["Primitives"], system: [],
                advice: "effects are protocols; adapters implement them")
        ),
        (
            "Shared/Messages",
            Room(modules: ["Primitives"], system: essentials, advice: "messages are plain values")
        ),
        (
            "Shared/Bus",
            Room(
                modules: ["Primitives", "Effects", "Messages"], system: essentials,
                advice: "the bus library knows no socket and no store")
        ),
        (
            "Shared/Storage",
            Room(
                modules: ["Primitives", "Effects"], system: essentials,
                advice: "drivers are adapters")
        ),
        (
            "Shared/HTTPTypes",
            Room(modules: [], system: [], advice: "requests and answers are plain values")
        ),
        (
            "Shared/Majordomo",
            Room(
                modules: ["Primitives"], system: [],
                advice: "machines are pure; the socket loop is in ZeroMQTransport")
        ),
        ("Services/Token/TokenService", domain),
        ("Services/Verification/VerificationService", domain),
        ("Services/SMSCode/SMSCodeService", domain),
        ("Services/Scene/SceneService", domain),
        ("Services/Echo/EchoService", domain),
        ("Services/Sandbox/SandboxService", clients),
        (
            "Services/Gateway/GatewayService",
            Room(
                modules: ["Primitives", "Effects", "Messages", "Bus", "HTTPTypes"],
                system: essentials,
                advice: "the gateway sees HTTP as values and the bus as messages")
        ),
        (
            "Services/Control/FusionctlCommands",
            Room(
                modules: clients.modules.union(["HTTPTypes"]), system: essentials,
                advice: "the tool sees HTTP as values and the bus as messages")
        ),
        (
            "Shared/BusClient",
            Room(
                modules: ["Primitives", "Effects", "Messages", "Bus", "ZeroMQTransport"],
                system: essentials, advice: "the client library is messages and their transport")
        ),
        (
            "Services/Broker/Broker",
            Room(
                modules: ["Primitives", "Effects", "Majordomo"], system: [],
                advice: "the broker knows no message and no socket")
        ),
        ("Shared/ZeroMQTransport", adapter(["Messages", "Bus", "Majordomo", "CZeroMQ", "CLinux"])),
        ("Shared/SQLiteStorage", adapter(["Storage", "CSQLite", "CLinux"])),
        ("Shared/Cryptography", adapter(["CSodium", "CLinux"])),
        ("Shared/TokenKeys", adapter(["CGnuTLS"])),
        ("Shared/PhoneNumbers", adapter(["CPhone"])),
        ("Shared/HTTPClient", adapter(["HTTPTypes", "CCurl", "CLinuxCalls"])),
        ("Shared/HTTPServer", adapter(["HTTPTypes", "CMicroHTTP", "CLinuxCalls"])),
        ("Shared/DaemonKit", adapter(["Messages", "Bus", "CToml", "CLinux", "CLinuxCalls"])),
        (
            "Shared/Wiring",
            Room(
                modules: [
                    "Primitives", "Effects", "Messages", "Bus", "Storage", "Majordomo",
                    "ZeroMQTransport", "SQLiteStorage", "Cryptography", "PhoneNumbers", "TokenKeys",
                    "DaemonKit",
                    "Broker", "HTTPTypes", "HTTPServer", "HTTPClient",
                ],
                system: ["FoundationEssentials", "Glibc"],
                advice: "wiring knows adapters, not services")
        ),
        ("Services/Broker/fusion-broker", executable("Broker")),
        ("Services/Token/fusion-token", executable("TokenService")),
        ("Services/Verification/fusion-verification", executable("VerificationService")),
        ("Services/SMSCode/fusion-smscode", executable("SMSCodeService")),
        ("Services/Scene/fusion-scene", executable("SceneService")),
        ("Services/Gateway/fusion-gateway", executable("GatewayService", "CPages")),
        ("Services/Sandbox/fusion-sandbox", executable("SandboxService")),
        ("Services/Echo/fusion-echo", executable("EchoService")),
        ("Services/Control/fusionctl", executable("FusionctlCommands")),
        (
            "Shared/FusionAuth",
            Room(
                modules: [], system: ["Foundation", "FoundationNetworking"],
                advice: "the client SDK goes into apps: it brings nothing along")
        ),
        (
            "deploy/examples/handset",
            Room(
                modules: ["FusionAuth"], system: ["Foundation"],
                advice: "an app sees the client SDK alone")
        ),
    ]

    static let testModules: Set<String> = [
        "TestKit", "SimulationKit", "ServiceTestKit", "Testing", "XCTest",
    ]
}

/// Words that layers 0 to 3 must not use, each with what to use instead. `files` names the exceptions.
enum BanList {
    struct Entry {
        let text: String
        let instead: String
        let exceptFiles: Set<String>
    }

    static let entries: [Entry] = [
        Entry(text: "Date()", instead: "a WallClock", exceptFiles: []),
        Entry(
            text: "Task {", instead: "a task group",
            // The client SDK's handler is made and used by code that cannot wait.
            exceptFiles: ["SystemEffects.swift"]),
        Entry(
            text: "Task(", instead: "a task group, or RequestPump",
            exceptFiles: ["RequestPump.swift"]),
        Entry(text: "Task.detached", instead: "a task group", exceptFiles: []),
        Entry(text: "Task.sleep", instead: "a Pause", exceptFiles: ["SystemEffects.swift"]),
        Entry(text: "UUID()", instead: "a RandomSource", exceptFiles: ["SystemEffects.swift"]),
        Entry(text: ".random(", instead: "a RandomSource", exceptFiles: []),
        Entry(text: "print(", instead: "a Log", exceptFiles: []),
        Entry(text: "try!", instead: "a typed error", exceptFiles: []),
        Entry(text: "as!", instead: "a typed error", exceptFiles: []),
        Entry(text: "DispatchQueue", instead: "a named thread in an adapter", exceptFiles: []),
        Entry(text: "TODO", instead: "doing it", exceptFiles: []),
    ]

    /// Folders of layers 0 to 3.
    static let folders = [
        "Shared/Primitives", "Shared/Effects", "Shared/Messages", "Shared/Bus", "Shared/Storage",
        "Shared/Majordomo", "Services/Token/TokenService",
        "Services/Verification/VerificationService", "Services/SMSCode/SMSCodeService",
        "Services/Scene/SceneService", "Services/Sandbox/SandboxService",
        "Services/Echo/EchoService", "Services/Broker/Broker", "Services/Gateway/GatewayService",
        "Shared/HTTPTypes", "Shared/FusionAuth",
    ]
}
