/** Result codes of the client SDK: names, and how they are meant. */

const NAMES = {
  100001: "TemplateNotExist", 100002: "TemplateNotStart", 100003: "TemplateNotEnd",
  100004: "TemplateEnd", 110005: "TemplateEndSuccess", 200001: "AuthNextNodeFail",
  200002: "AuthNextNodeSuccess", 200003: "AuthCurrentNodeNotComplete",
  300001: "TokenIsVerifying", 300002: "TokenValid", 300003: "TokenInvalid",
  300004: "TokenUpdateTimeout", 300005: "TokenAnalyseFail", 300006: "TokenVerifyFail",
  400001: "NumberAuthInitSuccess", 400002: "NumberAuthInitFail",
  400003: "NumberAuthPresentSuccess", 400004: "NumberAuthPresentFail",
  400005: "NumberAuthDisMiss", 400006: "NumberAuthGetTokenSuccess",
  400007: "NumberAuthGetTokenFail", 410008: "NumberAuthGetTokenEvent",
  410009: "NumberAuthOtherPhoneLoginClickEvent", 410010: "NumberAuthBackBtnClickEvent",
  410011: "NumberAuthProtocolClickEvent", 410012: "NumberAuthAlertProtocolClickEvent",
  500001: "VerifyCodeInitSuccess", 500002: "VerifyCodeInitFail",
  500003: "VerifyCodeVerifyGetPhoneNum", 500004: "VerifyCodeAutoNumberShowFail",
  500005: "VerifyCodeShowSuccess", 500006: "VerifyCodeShowFail",
  500007: "VerifyCodeGetSuccess", 500008: "VerifyCodeGetFail", 500009: "VerifyCodeFrequency",
  500010: "VerifyCodeRisk", 500011: "VerifyCodeVerifyPhoneGetTokenSuccess",
  500012: "VerifyCodeVerifyPhoneGetTokenFail", 500013: "VerifyCodeGetTokenSuccess",
  500014: "VerifyCodeGetTokenFail", 500015: "VerifyCodeAccuracyFail",
  510001: "VerifyCodeDisMiss", 510002: "VerifyCodeSendClickEvent",
  510003: "VerifyCodeSubmitClickEvent", 510004: "VerifyCodeBackClickEvent",
  600001: "UpGoingInitSuccess", 600002: "UpGoingInitFail", 600003: "UpGoingShowSuccess",
  600004: "UpGoingShowFail", 600005: "UpGoingSendSuccess", 600006: "UpGoingSendFail",
  600007: "UpGoingGetTokenSuccess", 600008: "UpGoingGetTokenFail", 610001: "UpGoingDisMiss",
  610002: "UpGoingSendClickEvent", 610003: "UpGoingAlreadySendClickEvent",
  610004: "UpGoingBackClickEvent", 700001: "DeviceSecurityDetectionSafe",
  700002: "DeviceSecurityDetectionFrequency", 700003: "DeviceSecurityDetectionRisk",
  700004: "DeviceSecurityDetectionGetFail", 800001: "ErrorNoNetwork",
  900003: "StartLoading", 900004: "EndLoading",
};

export const codeName = (code) => NAMES[code] ?? null;

/** Codes on which the SDK calls onVerifyFailed. */
const VERIFY_FAILED = new Set([
  400002, 400004, 400007, 500002, 500004, 500006, 500008, 500009, 500010, 500012, 500014, 500015,
  600002, 600004, 600006, 600008,
]);

/** The first of a view's codes that says that the node failed. */
export const failureAmong = (codes) => codes.find((code) => VERIFY_FAILED.has(code)) ?? null;

const BAD = new Set([200001, 300003, 300004, 300005, 300006, 700002, 700003, 700004, 800001]);
const GOOD = new Set([110005, 300002, 400006, 500007, 500011, 500013, 600007, 700001]);

/** good, bad or null. */
export function tone(code) {
  if (BAD.has(code) || VERIFY_FAILED.has(code)) return "bad";
  return GOOD.has(code) ? "good" : null;
}

export const KINDS = {
  2000001: "numberAuth", 2000003: "deviceRisk", 2000004: "numberRisk", 2000005: "smsCode",
  2000006: "upgoing", 2000007: "splitter", 2000008: "phoneScore", 2000009: "graphic",
};

/** Names of nodes as the SDK's callbacks give them. */
export const NODE_NAMES = {
  numberAuth: "NumberAuth", smsCode: "VerifyCodeAuth", upgoing: "UpGoingAuth", graphic: "GraphAuth",
};
