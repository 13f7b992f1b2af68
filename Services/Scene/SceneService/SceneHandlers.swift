package import Bus
import Messages
import Primitives

extension SceneService {
    /// The index of the service: one line per message.
    package var handlers: HandlerTable {
        var table = HandlerTable()
        table.on(ListTemplates.self, templates)
        table.on(StartScene.self, start)
        table.on(SubmitInput.self, submit)
        table.on(ContinueScene.self, proceed)
        table.on(AnswerHalfway.self, halfway)
        table.on(StopScene.self, stop)
        table.on(GetScene.self, get)
        return table
    }
}
