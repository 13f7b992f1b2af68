/** Result codes of the client SDK: names, and how they are meant. */

const NAMES = {};
const name = (prefix, first, ...endings) => endings.forEach((ending, at) => {
  NAMES[first + at] = prefix + ending;
});

name("Template", 100001, "NotExist", "NotStart", "NotEnd", "End");
name("TemplateEnd", 110005, "Success");
name("Auth", 200001, "NextNodeFail", "NextNodeSuccess", "CurrentNodeNotComplete");
name("Token", 300001, "IsVerifying", "Valid", "Invalid", "UpdateTimeout", "AnalyseFail", "VerifyFail");
name("NumberAuth", 400001, "InitSuccess", "InitFail", "PresentSuccess", "PresentFail", "DisMiss",
  "GetTokenSuccess", "GetTokenFail");
name("NumberAuth", 410008, "GetTokenEvent", "OtherPhoneLoginClickEvent", "BackBtnClickEvent",
  "ProtocolClickEvent", "AlertProtocolClickEvent");
name("VerifyCode", 500001, "InitSuccess", "InitFail", "VerifyGetPhoneNum", "AutoNumberShowFail",
  "ShowSuccess", "ShowFail", "GetSuccess", "GetFail", "Frequency", "Risk",
  "VerifyPhoneGetTokenSuccess", "VerifyPhoneGetTokenFail", "GetTokenSuccess", "GetTokenFail",
  "AccuracyFail");
name("VerifyCode", 510001, "DisMiss", "SendClickEvent", "SubmitClickEvent", "BackClickEvent");
name("UpGoing", 600001, "InitSuccess", "InitFail", "ShowSuccess", "ShowFail", "SendSuccess",
  "SendFail", "GetTokenSuccess", "GetTokenFail");
name("UpGoing", 610001, "DisMiss", "SendClickEvent", "AlreadySendClickEvent", "BackClickEvent");
name("DeviceSecurityDetection", 700001, "Safe", "Frequency", "Risk", "GetFail");
name("", 800001, "ErrorNoNetwork");
name("", 900003, "StartLoading", "EndLoading");

export const codeName = (code) => NAMES[code] ?? null;

/** Codes on which the SDK calls onVerifyFailed. */
const VERIFY_FAILED = new Set([
  400002, 400004, 400007, 500002, 500004, 500006, 500008, 500009, 500010, 500012, 500014, 500015,
  600002, 600004, 600006, 600008,
]);

/** The first of a view's codes that says that the node failed. */
export const failureAmong = (codes) => codes.find((code) => VERIFY_FAILED.has(code)) ?? null;

const BAD = new Set([200001, 300003, 700002, 700003, 700004, 800001]);
const GOOD = new Set([110005, 300002, 400006, 500007, 500011, 500013, 600007, 700001]);

export function tone(code) {
  if (BAD.has(code) || VERIFY_FAILED.has(code)) return "bad";
  return GOOD.has(code) ? "good" : null;
}

export const KINDS = {
  2000001: "numberAuth", 2000003: "deviceRisk", 2000004: "numberRisk", 2000005: "smsCode",
  2000006: "upgoing", 2000007: "splitter", 2000008: "phoneScore", 2000009: "graphic",
};

const NODE_NAMES = {
  numberAuth: "NumberAuth", smsCode: "VerifyCodeAuth", upgoing: "UpGoingAuth", graphic: "GraphAuth",
};

export const nodeName = (node) => NODE_NAMES[KINDS[node.kind]] ?? String(node.kind);
