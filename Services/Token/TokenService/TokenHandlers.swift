package import Bus
import Messages

extension TokenService {
    /// One line per message. `ping`, `info` and `stats` are added by the bus worker.
    package var handlers: HandlerTable {
        var table = HandlerTable()
        table.on(IssueAuthToken.self, issue)
        table.on(IntrospectAuthToken.self, introspect)
        table.on(RevokeAuthToken.self, revoke)
        table.on(GetSigningKeys.self, keys)
        table.on(RotateSigningKey.self, rotate)
        table.on(CreateScheme.self, createScheme)
        table.on(GetScheme.self, getScheme)
        table.on(ListSchemes.self, listSchemes)
        table.on(UpdateScheme.self, updateScheme)
        table.on(DisableScheme.self, disableScheme)
        table.on(CreateAccessKey.self, createKey)
        table.on(ListAccessKeys.self, listKeys)
        table.on(RevokeAccessKey.self, revokeKey)
        table.on(CreateTemporaryKey.self, createTemporaryKey)
        table.on(AuthenticateKey.self, authenticate)
        table.on(ConsumeToken.self, consume)
        return table
    }
}
