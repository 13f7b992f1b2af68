import Wiring

// No main.swift in a daemon: a closure written at its top level inherits the main actor and traps
// when C calls it.
@main enum BrokerMain {
    static func main() { BrokerDaemon.run("fusion-broker") }
}
