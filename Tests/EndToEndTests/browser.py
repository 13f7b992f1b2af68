"""A real browser on the phone page: headless Chromium of the system, one for all tests."""

import os
import re

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from house import PATIENCE, ROOT, until

SCREENSHOTS = ROOT / ".build/screenshots"

# How Chromium logs a refused call of the client API or of the page.
REFUSED = re.compile(
    r"http://[^/ ]+/(?:client/v1|demo/api)/\S* - Failed to load resource: "
    r"the server responded with a status of (4\d\d) ")

# Runs before the page's own scripts: what the page must never do is counted here.
WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.__violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
window.__errors = [];
addEventListener("error", (event) => window.__errors.push(String(event.message)));
addEventListener("unhandledrejection", (event) => window.__errors.push(String(event.reason)));
"""


def make_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    flags = ["--headless=new", "--hide-scrollbars", "--lang=en", "--disable-dev-shm-usage"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    for flag in flags:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    return driver


class PhonePage:
    """The page as a person uses it: looks, presses, types."""

    def __init__(self, driver, address):
        self.driver = driver
        self.address = address

    # Opening

    def open(self, width=1440, height=1000, dark=False, calm=True):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {
                "features": [
                    {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                    {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"},
                ]
            },
        )
        self.driver.get(f"{self.address}/demo")
        self.see('[data-scene="100001"]')
        # The simulated phone is known to the sandbox.
        until(lambda: self.run("return performance.getEntriesByType('resource')"
                               ".some((it) => it.name.endsWith('/api/inbox'))"), "the page at work")
        return self

    def shot(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    # Looking

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def see(self, selector, seconds=PATIENCE):
        """The element, once it is shown."""

        def shown():
            try:
                return next((it for it in self.all(selector) if it.is_displayed()), None)
            except StaleElementReferenceException:
                return None

        return until(shown, lambda: f"{selector}; the page says {self.text('body')}", seconds)

    def text(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])]"
            ".map((it) => it.innerText).join('\\n')", selector)

    def says(self, selector, words, seconds=PATIENCE):
        until(lambda: words in self.text(selector),
              lambda: f"{words!r} in {selector}: {self.text(selector)}", seconds)

    def toast(self, words):
        self.says("#toasts", words)

    def event(self, words):
        self.says("#events", words)

    @property
    def screen(self):
        return self.run("return document.getElementById('phone').dataset.screen")

    def on(self, screen):
        until(lambda: self.screen == screen and not self.is_busy,
              lambda: f"{screen}, and it is {self.screen}: {self.text('body')}")

    @property
    def is_busy(self):
        return self.run("return document.getElementById('phone').dataset.busy === 'true'")

    @property
    def account(self):
        return self.run("return document.getElementById('account').value")

    # Doing

    def press(self, selector):
        """As a person: only what is there, and when the phone is not at work."""
        until(lambda: not self.is_busy, "the phone at rest")
        element = self.see(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def type(self, selector, text):
        field = self.see(selector)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)

    def pick(self, selector, value):
        self.run(
            "const it = document.querySelector(arguments[0]); it.value = arguments[1];"
            "it.dispatchEvent(new Event('change', {bubbles: true}))", selector, value)

    def set(self, change):
        """A change of the simulated phone, and until it has reached the sandbox."""
        told = ("return performance.getEntriesByType('resource')"
                ".filter((it) => it.name.endsWith('/api/fault')).length")
        before = self.run(told)
        change()
        until(lambda: self.run(told) > before, "the simulated phone to be told")

    def choose(self, selector, value):
        self.set(lambda: self.pick(selector, value))

    def begin(self, template, screen):
        self.on("home")
        self.press(f'[data-scene="{template}"]')
        self.on(screen)

    def code(self, length=6):
        """The newest code in the messages beside the phone."""
        until(lambda: self.all(".bubble-code"), "a code in the inbox")
        return self.all(".bubble-code")[-1].text

    def messages(self):
        return len(self.all(".bubble:not(.mine)"))

    def send(self, number=None):
        """Asks for a code and waits for its SMS."""
        before = self.messages()
        if number is not None:
            self.type("#sms-number", number)
        self.press("#sms-send")
        self.see("#sms-code")
        until(lambda: self.messages() > before, "an SMS")
        return self.code()

    # What must stay clean

    def complaints(self, expected=()):
        """Errors of the console, violations of the policy, errors of the page's scripts.

        Browsers log every answer of 400 and above as an error, by themselves; a page cannot keep
        them from it, and the services answer a refusal by its status for every client alike. So a
        test names the statuses that it provokes, and those lines of the browser about our calls
        are left out; a status that it did not name, and all that the page itself logs or throws,
        stays a complaint. A text leaves out each line that holds it.
        """

        def is_expected(entry):
            found = REFUSED.match(entry["message"])
            if found and entry["source"] == "network" and int(found[1]) in expected:
                return True
            return any(it in entry["message"] for it in expected if isinstance(it, str))

        found = [
            entry["message"] for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING") and not is_expected(entry)
        ]
        return found + self.run("return [...(window.__violations ?? []), ...(window.__errors ?? [])]")


def other(code):
    return code[:-1] + str((int(code[-1]) + 1) % 10)
