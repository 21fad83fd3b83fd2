// The page's requests. Whatever comes from the server becomes text nodes, never markup.
const words = JSON.parse(document.getElementById("words").textContent);
const titles = JSON.parse(document.getElementById("titles").textContent);
const byId = (id) => document.getElementById(id);
const user = document.body.dataset.user;
const session = `web-${new Date().toISOString().slice(0, 10)}`;
const day = (iso) => new Date(iso).toLocaleDateString(document.documentElement.lang, { dateStyle: "medium" });

function element(tag, text = "", kind = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function fill(list, items, make) {
  list.replaceChildren(...(items.length ? items.map(make) : [element("li", words.nothing, "quiet")]));
}

async function call(method, path, body) {
  const options = { method, headers: body ? { "content-type": "application/json" } : {} };
  if (body) options.body = JSON.stringify(body);
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) {
    const problems = answer.error.problems.map((each) => `${each.where}: ${each.message}`);
    throw Object.assign(new Error([answer.error.message, ...problems].join(" · ")), { type: answer.error.type });
  }
  return answer;
}

const query = (path, more = {}) => `${path}?${new URLSearchParams({ user_id: user, ...more })}`;

function attempt(action) {
  return async (event) => {
    event?.preventDefault();
    byId("trouble").hidden = true;
    try {
      await action(event);
    } catch (error) {
      byId("trouble").textContent = `${words.failed} ${error.message}`;
      byId("trouble").hidden = false;
    }
  };
}

function lessonItem(each) {
  const item = element("li");
  item.append(element("strong", each.title), element("div", `${words[each.level]} · ${each.minutes} ${words.minutes} · ${each.why}`, "quiet"));
  return item;
}

function reviewItem(each) {
  const item = element("li");
  const buttons = byId("ratings").content.cloneNode(true);
  for (const button of buttons.querySelectorAll("button")) {
    button.addEventListener("click", attempt(async () => {
      await call("POST", `/api/learning/reviews/${each.content_id}`, { user_id: user, rating: button.dataset.rating });
      await refresh();
    }));
  }
  item.append(element("strong", each.title), element("div", `${day(each.due)} · ${Math.round(each.retrievability * 100)} %`, "quiet"), buttons);
  return item;
}

function topicItem(each) {
  const item = element("li");
  const facts = [words[each.status]];
  if (each.mastery !== null) facts.push(`${words.mastery} ${Math.round(each.mastery * 100)} %`);
  facts.push(`${words[each.way]}, ${words[each.depth]}`);
  if (each.review_due) facts.push(`${words.due} ${day(each.review_due)}`);
  item.append(element("strong", each.title));
  if (each.verdict) item.append(" ", element("span", words[each.verdict], each.verdict));
  item.append(element("div", facts.join(" · "), "quiet"));
  return item;
}

function questionForm(each) {
  const form = element("form", "", "row");
  const label = element("label", `${each.title} · ${words[each.level]}: ${each.question}`, "grow");
  const input = element("input");
  Object.assign(input, { name: "answer", required: true, maxLength: 500, autocomplete: "off" });
  const told = element("div", "", "wide");
  told.setAttribute("role", "status");
  label.append(input);
  form.append(label, element("button", words.check), told);
  form.addEventListener("submit", attempt(async () => {
    const found = await call("POST", `/api/learning/practice/${each.question_id}`, { user_id: user, answer: input.value });
    told.textContent = (found.correct ? words.right : `${words.wrong} ${found.answer}.`) + ` ${found.why}`;
    told.className = found.correct ? "strong" : "weak";
    form.querySelector("button").disabled = true;
    await Promise.all([showProfile(), showNext(), showMemory()]);
  }));
  return form;
}

async function showProfile() {
  const found = await call("GET", query("/api/user/profile"));
  byId("who").textContent = found.name;
  const form = byId("profile").elements;
  form.name.value = found.name;
  form.learning_style.value = found.learning_style;
  form.subjects.value = found.subjects.join(", ");
  form.difficulty_preference.value = found.difficulty_preference;
  const chips = Object.entries(found.levels).map(([name, level]) => element("span", `${titles[name] ?? name}: ${words[level]}`, "chip"));
  byId("levels").replaceChildren(...chips, element("span", words[found.learning_style], "chip"));
  const known = found.subjects.find((name) => name in titles);
  if (known && !byId("ask").elements.question.value) byId("ask").elements.subject.value = known;
  fill(byId("topics"), found.topics, topicItem);
}

async function showNext() {
  fill(byId("next"), await call("GET", query("/api/learning/recommendations")), lessonItem);
  fill(byId("reviews"), await call("GET", query("/api/learning/reviews")), reviewItem);
}

async function showPractice() {
  const found = await call("GET", query("/api/learning/practice"));
  byId("practice").replaceChildren(...(found.length ? found.map(questionForm) : [element("p", words.nothing, "quiet")]));
}

async function showMemory() {
  fill(byId("memory"), await call("GET", query("/api/user/memory")), (each) => {
    const item = element("li");
    item.append(element("span", `${day(each.at)} `, "quiet"), element("span", each.text, each.current ? "" : "replaced"));
    if (!each.current) item.append(element("span", ` (${words.replaced})`, "quiet"));
    return item;
  });
}

async function refresh() {
  await showProfile();
  await Promise.all([showNext(), showPractice(), showMemory()]);
}

byId("open").addEventListener("submit", (event) => {
  event.preventDefault();
  location.search = new URLSearchParams({ lang: document.body.dataset.lang, user: event.target.elements.user.value });
});

byId("profile").addEventListener("submit", attempt(async (event) => {
  const form = Object.fromEntries(new FormData(event.target));
  const subjects = form.subjects.split(/[,，、]/).map((each) => each.trim()).filter(Boolean);
  await call("POST", "/api/user/profile", { ...form, subjects, user_id: user, language: document.body.dataset.lang });
  await refresh();
}));

byId("ask").addEventListener("submit", attempt(async (event) => {
  const box = byId("answer");
  box.replaceChildren(element("p", words.thinking, "quiet"));
  try {
    const form = Object.fromEntries(new FormData(event.target));
    const found = await call("POST", "/api/learning/question", { ...form, user_id: user, session_id: session });
    const chips = element("p", "", "chips");
    chips.append(...[found.difficulty, found.way, found.depth].map((each) => element("span", words[each], "chip")));
    const memories = element("details");
    const lines = element("ul", "", "lines");
    fill(lines, found.memories, (each) => element("li", each.text));
    memories.append(element("summary", `${words.recalled} (${found.memories.length})`), lines);
    box.replaceChildren(element("div", found.answer, "answer"), chips, memories);
    await showMemory();
  } catch (error) {
    box.replaceChildren();
    throw error;
  }
}));

byId("report").addEventListener("submit", attempt(async (event) => {
  const form = Object.fromEntries(new FormData(event.target));
  const numbers = { understanding_level: Number(form.understanding_level), time_spent: Number(form.time_spent) };
  await call("POST", "/api/learning/progress", { ...form, ...numbers, user_id: user });
  await refresh();
}));

byId("forget").addEventListener("click", attempt(async () => {
  if (!confirm(words.sure)) return;
  const found = await call("DELETE", query("/api/user"));
  for (const id of ["next", "reviews", "topics", "memory", "practice", "answer", "levels"]) byId(id).replaceChildren();
  byId("who").textContent = `${found.count} ${words.forgotten} ${found.verified ? "✓" : "✗"}`;
}));

if (user) {
  byId("export").href = query("/api/user/export");
  attempt(async () => {
    try {
      await refresh();
    } catch (error) {
      if (error.type !== "unknown_student") throw error;
      byId("edit").open = true; // a new student: the profile comes first
    }
  })();
} else {
  document.querySelector("main").hidden = true;
}
