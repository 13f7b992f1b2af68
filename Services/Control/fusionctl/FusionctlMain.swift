import DaemonKit
import FusionctlCommands
import Wiring

// No main.swift: a closure written at its top level inherits the main actor and traps when C calls it.
@main enum FusionctlMain {
    static func main() { runTool() }
}

private func runTool() -> Never {
    ToolProcess.run { process in
        let words = ToolProcess.words
        if words.first == BusBenchParts.word {
            return await BusBenchParts.run(Array(words.dropFirst()))
        }
        let terminal = SystemTerminal()
        let tool = Fusionctl(
            machine: SystemMachine(process: process, terminal: terminal), terminal: terminal,
            version: BuildInfo.version)
        return await tool.run(words).rawValue
    }
}

struct SystemTerminal: Terminal {
    func result(_ text: String) { ToolProcess.writeOut(text + "\n") }
    func progress(_ text: String) { ToolProcess.writeError(text + "\n") }
}
