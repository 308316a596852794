import { MAX_BRIEFS } from './brief';
import { asksPerson, needsLocal } from './check';
import { type Finding, type Hit, type Look, W, escaped, judge, look, rx } from './routing-match';
import type { AgentTypes, Asked, NamedAgent, Rule, Worker } from './routing';
import { type RequestText, clauseBefore } from './text';
import { traitsIn } from './traits';

/** What each rule of the table looks for, in the table's order. */

export const CUSTOM: Look = {
  endsWithAgent: true,
  stems: ['custom'],
  any: () => [
    rx(String.raw`\bcustom\b,?${W.ADJECTIVES} ${W.WORKER}`),
    rx(String.raw`\b(?:launch|spawn|spin up|fire up|dispatch|delegate to)(?: [a-z0-9_]+){0,3} custom\b`),
    rx(String.raw`\b(?:go|use|using|launch|prefer|want|with|make (?:them|the agents|it|these)(?: all)?) custom(?= ones?\b|$|[.,;:!?\n)]| (?:for|on|to|please|here|this time|and)\b)`),
    rx(String.raw`\b(?:sub-?)?agents?\b[^.;!?\n]{0,40} (?:are|be|is) custom\b`),
    rx(String.raw`\bcustom-?(?:build|make|tailor|design|built|made|tailored|designed)\b${W.ADJECTIVES} ${W.WORKER}`),
  ],
  mayBeTopic: true,
}; // prettier-ignore

export const TEAM_NAMED: Look = {
  stems: ['agent', ' team'],
  any: () => [
    rx(String.raw`\b(?:sub-?)?agents?['s]{0,2} teams?\b`),
    rx(String.raw`\bteams? of (?:[a-z_'-]+ ){0,3}(?:sub-?)?agents\b`),
    rx(
      String.raw`${W.ASKS}(?<w>(?:use|launch|spin up|fire up|put|set) (?:a|the) team)(?= (?:on|for|onto) (?:this|that|it|these|those)\b|\s*(?:$|[.,;:!?\n]))`,
    ),
  ],
  mayBeTopic: true,
};

const LONG_HOURS = String.raw`(?:\d{1,3}(?:\s?(?:-|to|or)\s?\d{1,3})?|${W.NUMBERS}|a few) (?:or more )?hours`;
const RUNS = String.raw`\b(?:run|runs|work|works|keep|keeps|go|process|train|crawl|let|leave|continue|do|finish|grind|churn|execute|start|launch|scan|index|generate|try|schedule|kick off|should|needs to|has to|must)\b[^.;!?\n]{0,160}?`;
const UNWATCHED = String.raw`with (?:nobody|no ?-?one) (?:watching|attending|supervising|at the keyboard)\b`;

export const MANAGED: Look = {
  stems: ['managed', 'hosted', 'cloud', 'overnight', 'sleep', 'asleep', 'away', 'offline', 'gone', 'holiday', 'vacation', 'on leave', 'in bed', 'when i', 'while i', 'while we', 'when we', 'as i', 'as we', 'unattended', 'weekend', 'surviv', 'laptop', 'machine', 'computer', 'connection', 'network', 'terminal', 'ssh', 'wi-fi', 'wifi', 'lid', 'i close', 'i shut', 'i log', 'i disconnect', 'i hang', 'i leave', 'hour', 'night', 'clock', ' ci', 'webhook', 'sandbox', 'with no'],
  any: () => [
    rx(String.raw`\b(?:hosted |managed |cloud )(?:managed )?agents?\b`),
    rx(String.raw`(?<!\b(?:the|our|an|last|my) )\bovernight\b(?! (?:trains?|bus|buses|flights?|ferry|trip|stays?|bag|guests?|batch|builds?|jobs?|runs?|success|oats|shipping|delivery|sensation|parking|low|rate|rates|shift|backup|crash|failure|index|lens))`),
    rx(String.raw`\b(?:while|when|as) (?:i|we)(?:'m| am|'re| are)? (?:sleep|asleep|sleeping|out\b|away|offline|gone|on (?:holiday|vacation|leave)|in bed)`),
    rx(String.raw`\bunattended\b(?! (?:luggage|bags?|baggage|child|children|upgrades?|packages?|mode))`),
    rx(String.raw`${RUNS}(?<w>\b(?:over|through) the weekend\b)`),
    rx(String.raw`\bsurviv\w* (?:a |any |my |the |when )?(?:disconnect\w*|reboots?|crash\w*|restarts?|log-?outs?|closing|losing|connection loss)`),
    rx(String.raw`\b(?:if|even if|when|even when|after|though) (?:my|the|this) (?:laptop|machine|computer|connection|network|terminal|ssh|wi-?fi|lid)(?: [a-z]+)? (?:disconnects?|sleeps?|closes?|dies|drops?|goes (?:down|away)|is (?:closed|off|gone)|shuts (?:down|off)|shut)\b`),
    rx(String.raw`\b(?:when|if|after|once|even if|even when|while) i (?:close|shut|log off|log out|disconnect|hang up|leave)\b`),
    rx(String.raw`(?<!\b(?:the|our|last|my) )\bmulti-?hour\b|\bhours-long\b`),
    rx(String.raw`${RUNS}(?<w>\b(?:for|takes?|about|over the next) (?:about |around |up to |at least |the next )?${LONG_HOURS}\b)`),
    rx(String.raw`(?<w>\b(?:it |this |that )?(?:takes|will take|should take|may take|runs) (?:about |around |up to |at least )?${LONG_HOURS}\b)`),
    rx(String.raw`${RUNS}(?<w>\b(?:all night|through(?:out)? the night|around the clock)\b)`),
    rx(String.raw`${W.ASKS}(?:run|execute|launch|start|schedule|do)\b[^.;!?\n]{0,80}(?<w>\b(?:in|on|from|as part of) (?:the |our |a )?ci\b)`),
    rx(String.raw`\bwebhook-(?:initiated|triggered|driven|started)\b|\b(?:triggered|initiated|started|launched|kicked off) by (?:a |the |each |every )?(?:[a-z]+ )?webhook`),
    rx(String.raw`(?<w>\bwebhooks? (?:should|must|shall|has to|have to|needs to|need to)) (?:start|trigger|launch|kick off|spawn|wake)\b(?: [a-z-]+){0,2} (?:session|agent|run)s?\b`),
    rx(String.raw`\b(?<w>(?:whenever|every time|each time|on (?:each|every)|for (?:each|every))\b[^.;!?\n]{0,40}\bwebhook)\b[^.;!?\n]{0,40}\b(?:start|run|launch|trigger|kick off|spawn)\b`),
    rx(String.raw`(?:^|[.;:!?\n,][^\S\n]*|\b(?:please|then|now|let's)\s+)(?:run|start|launch|kick off|trigger|spawn|execute)\b[^.;!?\n]{0,80}?(?<w>\b(?:whenever|when|every time|each time) (?:a|the|an|our|any) (?:[a-z]+ )?webhook (?:arrives|comes|fires|calls|is (?:called|received)))\b`),
    rx(String.raw`${RUNS}(?<w>\b${UNWATCHED})`),
    rx(String.raw`\b${UNWATCHED}(?=,? (?:run|keep|go on|work|start|let|execute|try)\b)`),
    rx(String.raw`\bsandboxed (?:execution|environment|container|agent)\b|${W.ASKS}(?:run|execute|try|test|launch|start)\b[^.;!?\n]{0,80}(?<w>\bin (?:a |an |the )?(?:isolated |cloud |hosted |remote )?sandbox\b)`),
  ],
  notAfter: /\b(?:soak|marinate|rest|rise|chill|refrigerate|stay|stayed|park|charge|ship|deliver|travel|fly|drive|sleep|slept|i was|we were|did|happened|changed|appeared|disappeared|vanished|fell|rose|dropped|grew|doubled|crashed|broke|died|failed|stopped|became|went|turned|moved|gained|lost|arrived)(?: \w+){0,3} $/,
  mayBeTopic: true,
}; // prettier-ignore

const LOCAL_CONTEXT =
  /\bmy (?:own )?(?:goals?|calendar|notes|memory|memories|knowledge|sessions?|artifacts?|projects? file|skills?|desktop|screen|downloads?|home folder|inbox)\b|\blocal (?:files?|folders?|context|disk)\b|\b(?:on|from) (?:my|this|the local) (?:machine|laptop|computer|mac|disk|desktop)\b|\buser area\b|\bclaude\.md\b|\bknowledge archive\b|\b(?:goals|daily) record\b|(?<![\w])zf_*~|~\//;
const INTERACTIVE =
  /\binteractive\w*\b|\b(?:ask|check with|confirm with|consult) me\b|\b(?:together )?with me\b|\bwalk me through\b|\btalk (?:it|this|me) through\b|\bpair (?:with|program\w*)\b|\bwait for my\b|\bi'?ll (?:answer|be here|decide)\b/;

export function unsuitableForManaged({ request, whole }: Asked): string | undefined {
  const { text } = request;
  const short = /\b(\d{1,3}|a few|a couple of|several|five|ten|fifteen|twenty) ?-?min(?:ute)?s?\b/.exec(text);
  const isShort = short !== null && !(Number(short[1]) >= 30);
  if (isShort) return 'Managed agents are not for work of less than 30 minutes, so it stays here.';
  if (INTERACTIVE.test(text) || asksPerson(whole))
    return 'Managed agents are not for interactive work, so it stays here.';
  return LOCAL_CONTEXT.test(text) || needsLocal(whole)
    ? 'Managed agents see none of your own files, context and skills, so it stays here.'
    : undefined;
}

/** "No agents": the person wants no delegation at all; of custom, parallel or managed ones it says less. */
const REFUSED_AGENTS: Look = {
  endsWithAgent: true,
  stems: ['agent', 'delegat', 'outsourc', 'fan out', 'fanning out'],
  any: () => [
    rx(String.raw`\b(?:no|without|zero)(?: (?:launching|using|starting|spawning|any|more|ai|extra|other|the|help from|need for)){0,3} (?<w>${W.AGENT})(?! teams?\b)`),
    rx(String.raw`\b(?:don't|dont|do not|never|please don't|avoid|skip|stop|instead of|rather than|refrain from)(?: (?:use|using|launch|launching|spawn|spawning|start|starting|run|running|want|need|create|creating|send|bring in|involve|delegate to|delegating to|any|more|the|an?|to|your|other|parallel|multiple|several|specialized|specialised)){0,4} (?<w>${W.AGENT})(?! teams?\b)`),
    rx(String.raw`\b(?:don't|dont|do not|never|without|no) (?<w>(?:delegat(?:e|ing|ion)|outsourc(?:e|ing)|fan(?:ning)? out))\b`),
  ],
}; // prettier-ignore
const YOURSELF: Look = {
  stems: ['yourself'],
  any: () => [rx(String.raw`\b(?:do|answer|handle|solve) (?:it|this|that) yourself\b`)],
};

/** Here what is taken back is what decides. */
export function findDeclined({ request }: Asked): Finding {
  const hit = look(request, REFUSED_AGENTS).refused ?? look(request, YOURSELF).hit;
  return hit === undefined ? {} : { hit };
}

const RESEARCH_NOUN = String.raw`(?! (?:paper|paper's|teams?|questions?|proposal|grants?|department|lab|labs|group|shows?|suggests?|says?|is|was|were|has|had|found|indicates|assistant|page|pages|project|skill|skills|fellow|methods?|methodology|results?|report|article|section|tab|button|and development|interests?|field)\b)`;
export const RESEARCH: Look = {
  stems: ['research', 'investigat'],
  any: () => [
    rx(String.raw`${W.ASKS}(?:do )?(?<w>(?:research|investigate)\b)${RESEARCH_NOUN}(?=\s+\S|:)`),
    rx(String.raw`\b(?<w>(?:do|doing|run|conduct|carry out|perform|need|want|start)(?: [a-z_-]+){0,3} (?:research|investigation)\b)(?= (?:on|into|about|regarding|for|whether|why|how|what|around)\b|$|[.!?])`),
    rx(String.raw`\b(?<w>(?:use|launch|with|ask|send|via|run) (?:the |your |some |a )?(?:research (?:skill|agents?)|researcher agents?|researchers))\b`),
  ],
  notAfter: /\b(?:used to|failed to|tried to|refused to|promised to|hired to|paid to|began to|continued to|they|he|she|police|scientists|paper to|who) $/,
}; // prettier-ignore

const QUESTION =
  /\?|^\W*(?:how|what|which|where|when|why|who|does|do|is|are|explain|tell me|show me how|describe)\b|\b(?:how (?:do|can|to|does|should|would)|is there|is it possible|tell me|wondering (?:how|if|whether)|explain (?:how|what|why|the))\b/;
const POLITE_COMMAND =
  /^\W*(?:please\W+)?(?:can|could|would|will) you (?:please )?(?!tell|explain|show|say|clarify|describe|list|see|know)/;
const TOOL_STRONG = String.raw`\bmcp\b|\bmodel context protocol\b|\bslash[- ]commands?\b|\b(?:pretooluse|posttooluse|posttoolusefailure|userpromptsubmit|sessionstart|sessionend|subagentstop|subagentstart|precompact|permissionrequest)\b|\bsettings(?:\.local)?\.json\b|\bclaude\.md\b|\.mcp\.json|\boutput styles?\b|\bpermission modes?\b|\bplan mode\b|\bsubagent_type\b|\bstatus ?line (?:of|in|setting|command)\b|\bagent sdk\b`;
const TOOL_WEAK = String.raw`(?:hooks?|settings?|commands?|(?:sub-?)?agents?|api|apis|permissions?|plugins?|skills?|keybindings?|shortcuts?|flags?|config(?:uration)?|status ?line|context window|compact\w*|models?|memory|worktrees?)`;
const ASSISTANT = String.raw`(?:claude(?: code)?|codex(?: cli)?|gemini cli|copilot cli|cursor|(?:the |this |my |your )?(?:coding |ai |code )?assistant(?:'s| tool)?|(?:the|this) (?:code|coding) tool|the harness)`;
const FOREIGN =
  /\b(?:react|vue|svelte|preact|git|husky|webpack|wordpress|vs ?code|visual studio|django|laravel|kubernetes|stripe|twitter|drupal|electron|fish\w*|boxing|knitting|crochet|curtain|towel|rails|phone|iphone|android|excel|vim|emacs|windows|photoshop|sublime|minecraft|pirates?)\b/;
export const TOOL_GUIDE: Look = {
  stems: ['hook', 'setting', 'command', 'agent', 'api', 'permission', 'plugin', 'skill', 'keybinding', 'shortcut', 'flag', 'config', 'mcp', 'model', 'status', 'tooluse', 'session', 'subagent', 'compact', 'context', 'memory', 'worktree', 'output style', 'plan mode', 'claude.md', 'userprompt'],
  any: () => [
    rx(TOOL_STRONG),
    rx(String.raw`\b${ASSISTANT}\b[^.!?\n]{0,80}\b(?<w>${TOOL_WEAK})\b`),
    rx(String.raw`\b(?<w>${TOOL_WEAK})\b[^.!?\n]{0,80}\b${ASSISTANT}\b`),
    rx(String.raw`\b(?<w>your (?:hooks?|settings|(?:slash )?commands?|api|agents|mcp\w*|plugins|permissions))\b`),
    rx(String.raw`\bhow (?:do|can|should|would|to)(?: i| we| you| one)? (?:add|configure|register|write|use|set up|disable|define|debug|test|install|remove|make)(?: (?:a|an|the|my|new|custom|another)){0,2} (?<w>hooks?|(?:sub-?)?agents?)\b`),
    rx(String.raw`\b(?<w>how do hooks work|what (?:are|is a) hooks?\b|which hooks (?:are|exist|do))`),
  ],
  also: [QUESTION],
  unless: [FOREIGN, POLITE_COMMAND],
}; // prettier-ignore

const NO_SHORTCUTS = String.raw`\bno[- ]short-?cuts?\b|\bwithout (?:any |taking |cutting |taking any |cutting any )?(?:short-?cuts|corners)\b|\b(?:don't|do not|never) (?:take|use|allow)(?: any)? short-?cuts\b|\b(?:don't|do not|never) cut (?:any )?corners\b`;
const PRODUCTION: Look = {
  stems: ['shortcut', 'short-cut', 'corners', 'prod', 'battle', 'ship-quality'],
  any: () => [
    rx(NO_SHORTCUTS),
    rx(String.raw`\bprod(?:uction)?[- ](?:grade|ready|quality|level)\b|\bready for production\b|\bbattle-tested\b|\bship-quality\b`),
  ],
  mayBeTopic: true,
}; // prettier-ignore

const AUDIT = String.raw`${W.ASKS}(?<w>audit\b)(?! (?:logs?|trail|report|firm|fees?|table|events?))`;
const CROSS_AUDIT = String.raw`\b(?<w>cross-vendor audit|mode: ?audit|builder'?s? audit|audit (?:by|with|from) the builder)\b`;

export function findProduction(asked: Asked): Finding {
  const byName = look(asked.request, {
    stems: ['builder', asked.types.builder.toLowerCase()],
    any: () => [builderNamed(asked.types)],
  });
  if (byName.hit !== undefined) return byName;
  const code = findCode(asked);
  const said = look(asked.request, PRODUCTION);
  if (code.hit === undefined) return byName.refused === undefined ? {} : { refused: byName.refused };
  if (said.hit !== undefined) return said;
  if (asked.effort === null || asked.effort < 3) return said;
  return { hit: { ...code.hit, words: `effort E${asked.effort}, ${code.hit.words}` } };
}

function builderNamed({ builder }: AgentTypes): RegExp {
  const name = `(?:${[...new Set(['builder', escaped(builder)])].join('|')})`;
  return rx(
    String.raw`\b(?:use|using|with|via|launch|run|ask|let|have|by|through|need|want|give (?:it|this) to|hand (?:it|this) to|delegate (?:it |this )?to) (?:the |our |your )?(?:cross-vendor )?(?<w>${name})\b(?! (?:pattern|class|app|tool|function|method|object|api|company|mode is))`,
  );
}

export function findAudit(asked: Asked): Finding {
  const named = look(asked.request, { stems: ['audit'], any: () => [rx(CROSS_AUDIT)] });
  if (named.hit !== undefined || asked.effort === null || asked.effort < 4) return named;
  return look(asked.request, { stems: ['audit'], any: () => [rx(AUDIT)] });
}

const SYSTEM = String.raw`(?:systems?|services?|apis?|architecture|database|data ?model|data ?base|schemas?|protocol|modules?|interfaces?|backend|microservices?|pipeline|platform|infrastructure|storage|cache|caching|queue|plugin system|class hierarchy|state machine|event (?:bus|model|log)|topology|framework|app|application|library|software|domain model|tables?|component structure|integration|sync|engine|layer|permission model|auth\w*)`;
export const ARCHITECTURE: Look = {
  stems: ['design', 'architect', 'structure', 'layer', 'lay out', 'partition', 'decouple', 'model'],
  any: () => [
    rx(String.raw`${W.ASKS}(?<w>(?:re-?design|design|architect)\b(?: (?:me|us|out))?(?: [a-z_'-]+){0,6}? ${SYSTEM})\b`),
    rx(String.raw`\b(?<w>(?:system|software|service|data|api|database|application|cloud|event|plugin|module|technical|high-level|target) (?:architecture|design)|design doc(?:ument)?|architecture (?:decision|review|diagram|record|document|proposal|options?))\b`),
    rx(String.raw`\b(?<w>architecture)\b(?= (?:for|of|would|should|do|does|to|that|which|is|and)\b|[?.!,]|$)`),
    rx(String.raw`\b(?<w>how (?:should|would|could|can|do) (?:we|i|you|one) (?:structure|architect|layer|lay out|partition|decouple|model)(?: [a-z_'-]+){0,4})`),
  ],
  notAfter: /\b(?:styles?|works?|pieces?|schools?|history|museum|masterpieces?) of $/,
  unless: [/\b(?:gothic|roman(?:esque)?|baroque|landscape|renaissance|victorian|brutalist|modernist|islamic|medieval|cathedrals?|churches|houses?|buildings?|bathroom|kitchen|garden|interior|bauhaus|art deco|greek|temples?|logo|poster|tattoo|dress)\b/],
}; // prettier-ignore

export const RULE_2: Look = {
  endsWithAgent: true,
  stems: ['agent'],
  any: () => [
    rx(String.raw`${W.DELEGATE}(?: (?!(?:no|not|about|like)\b)[a-z0-9_'-]+){0,5}? ${W.AGENT}`),
    rx(String.raw`\b(?:parallel|speciali[sz]ed|specialist|multiple|several|different|independent|separate|background|\d{1,4}|${W.NUMBERS})(?: [a-z_-]+)? ${W.AGENT}`),
    rx(W.AGENTS),
  ],
  notAfter: /\b(?:our|their|his|her|these|those|the word|whose|most|all|some|many) $/,
  mayBeTopic: true,
}; // prettier-ignore

const PARALLEL: Look = {
  stems: ['parallel', 'simultaneous', 'concurrent', 'same time', 'at once', 'side by side', 'split', 'divide', 'spread', 'share', 'fan out', 'these', 'following', 'those', 'depend', 'blocked', 'needs', 'waits', 'wait for', 'once', 'when', 'as soon', 'after'],
  any: () => [
    rx(String.raw`\bin parallel\b(?! (?:with the law|to the))|\bparallel(?:ly|i[sz]e)\b|\bsimultaneously\b|\bconcurrently\b|\bat the same time\b|\ball at once\b|\bside by side(?= and)`),
    rx(String.raw`${W.ASKS}(?<w>(?:split|divide|spread|share|fan out)\b[^.;!?\n]{0,60}\b(?:among|between|across|into|up|out)\b)(?! the (?:difference|bill))`),
    rx(String.raw`\b(?<w>(?:do|handle|work on|tackle|finish|complete|process)(?: all)?(?: of)? (?:these|the following|those) (?:[a-z0-9_]+ )?(?:tasks|things|items|jobs|tickets|workstreams|chores))\b`),
    rx(String.raw`\b(?<w>(?:task|step|part|item|phase|the (?:first|second|third|last|next) (?:one|task|step|part))(?: [a-z0-9]+)? (?:depends on|is blocked by|needs|waits for|has to wait for))\b`),
    rx(String.raw`\b(?<w>with (?:their )?dependencies(?: between)?|dependencies between|in dependency order)\b`),
    rx(String.raw`\b(?<w>(?:once|when|as soon as|after) (?:that|those|it|they|both|all|all of them)(?: is| are|'s|'re)? (?:done|finished|ready|complete))\b`),
  ],
  unless: [/\bparallel (?:universes?|lines?|parking|bars|park)\b/],
  mayBeTopic: true,
}; // prettier-ignore

export function findParallel(asked: Asked): Finding {
  const found = look(asked.request, PARALLEL);
  if (found.hit !== undefined || asked.count === null || asked.count < 2) return found;
  return { hit: { words: `${asked.count} agents`, at: 0, length: 0 } };
}

export function findType(asked: Asked): Finding {
  const { general: any, explore, plan, toolGuide, researchers } = asked.types;
  const names = [any, explore, plan, toolGuide, ...researchers].map((name) => escaped(name.toLowerCase()));
  const name = `(?:${names.join('|')})`;
  return look(asked.request, {
    stems: ['agent', ' type', 'subagent_type'],
    any: () => [
      rx(
        String.raw`\b(?:use|using|with|via|launch|run|start|by|through)(?: the| a| an| your)? (?<w>${name} (?:sub-?)?(?:agents?|type|subagent type))\b`,
      ),
      rx(String.raw`\bsubagent_type:? ?(?<w>${name})`),
    ],
  });
}

/** The type that the request names, as the configuration spells it. */
export function typeIn(types: AgentTypes, text: string): string {
  const said = text.toLowerCase();
  const all = [types.explore, types.plan, types.toolGuide, ...types.researchers, types.general];
  return all.find((name) => said.includes(name.toLowerCase())) ?? types.general;
}

/** The verbs that ask for code where what they are said of is code. */
const VERB = String.raw`(?:implement|code|build|write|fix|refactor|rewrite|add|create|port|debug|optimi[sz]e|migrate|develop|program|patch|extend|make|rename|remove|delete|update|upgrade|test|convert|wire up|set up|hook up|bump|extract|inline|type-?check|speed up|replace|support|handle|generate|finish|repair|stabili[sz]e|harden|clean up)`;

/** What code is made of; one word or two. */
const OBJECTS = new Set(
  `functions | function | class | classes | method | endpoints | endpoint | apis | api | modules | module | scripts | script | parsers | parser | unit tests | unit test | tests | test | test suite | bugs | bug | components | component | features | feature | migrations | migration | cli | regex | regexp | regular expression | handlers | handler | hooks | hook | library | libraries | schemas | schema | apps | app | websites | website | web page | webpage | settings page | login page | login form | login | sign-in | signin | buttons | button | dropdown | modal | forms validation | form validation | validation | algorithm | code | codebase | makefile | dockerfile | docker | build | compiler | linter | linting | lint | type errors | typeerrors | type error | typeerror | types | type | exceptions | exception | crashes | crash | memory leaks | memory leak | race condition | deadlock | null pointer | stack trace | stacktrace | segfault | server | client | backend | frontend | database | query | queries | sql | cache | caching | queue | worker | cron job | webhooks | webhook | middleware | router | routing table | service | microservice | daemon | package | dependency | dependencies | crate | gem | repository | repo | branch | commit | pull request | merge conflict | ci | pipeline | workflow file | workflow | deployment script | deploy script | terraform | kubernetes | helm | typescript | javascript | python | rust | golang | java | c++ | ruby | swift | kotlin | react | vue | css | html | json | yaml | plugin | extension | bot | scraper | crawler | sync engine | engine | rate limiter | rate limiting | rate limit | pagination | logging | logger | retry | retries | oauth | authentication | auth | feature flags | feature flag | importer | exporter | wrapper | iterator | linked list | binary tree | binary search | hash map | hashmap | loop | variable | constant | unused imports | unused import | imports | import | program | software | firmware | game | compiler warnings | compiler warning | flags | flag`.split(
    ' | ',
  ),
);

/** Words that are not about code whatever else is said. */
const NO_CODE =
  /\b(?:poem|haiku|birthday card|novel|limerick|cover letter|sonnet|short story|fairy tale|blog post|song|lyrics|thank-you note)\b/;
const REACH = 100;
const MAX_HITS = 50;

/** Does the request ask for code to be written or changed (service.md: rule 5)? */
export function findCode({ request }: Pick<Asked, 'request'>): Finding {
  if (NO_CODE.test(request.text)) return {};
  const plainly = look(request, PLAINLY);
  if (plainly.hit !== undefined) return plainly;
  const found = first(request, [...verbHits(request), ...brokenHits(request)]);
  return found.hit === undefined && plainly.refused !== undefined ? plainly : found;
}

const PLAINLY = {
  stems: ['implement', 'refactor', 'debug', 'unit-test', 'type-check', 'typecheck', 'recompile'],
  any: () => [
    rx(
      String.raw`${W.ASKS}(?<w>(?:implement|refactor|debug|unit-test|type-?check|recompile)\b)(?! (?:a |the |our |new )?(?:policy|policies|law|laws|plan|strategy|diet|routine|habit|reform))`,
    ),
  ],
};

/** "fix the failing test": a verb, and in the same sentence what code is made of. */
function* verbHits({ text }: RequestText): Generator<Hit> {
  for (const found of text.matchAll(rx(String.raw`${W.ASKS}(?<w>${VERB})\b`))) {
    const verb = found.groups?.['w'] ?? '';
    const at = found.index + found[0].length - verb.length;
    const length = objectEnd(sentence(text.slice(at + verb.length, at + verb.length + REACH)));
    if (length !== undefined) yield { words: '', at, length: verb.length + length };
  }
}

/** "the build is broken, fix it": what code is made of, and then the verb. */
function* brokenHits({ text }: RequestText): Generator<Hit> {
  for (const found of text.matchAll(
    /\b(?:fix|repair|debug|mend|stabili[sz]e|patch) (?:it|this|that|them)\b/g,
  )) {
    const from = Math.max(0, found.index - REACH);
    const before = text.slice(from, found.index);
    const start = before.search(/(?<![^.;!?\n])[^.;!?\n]*$/);
    const at = objectStart(before.slice(start));
    if (at !== undefined)
      yield { words: '', at: from + start + at, length: found.index + found[0].length - (from + start + at) };
  }
}

function sentence(text: string): string {
  return /^[^.;:!?\n]*/.exec(text)?.[0] ?? '';
}

/** Where the first object of a text ends; undefined where there is none. */
function objectEnd(text: string): number | undefined {
  return objectsIn(text)[0]?.[1];
}

function objectStart(text: string): number | undefined {
  return objectsIn(text)[0]?.[0];
}

function objectsIn(text: string): [start: number, end: number][] {
  const words = [...text.matchAll(/[a-z0-9_+#]+(?:-[a-z0-9_]+)*/g)];
  return words.flatMap((word, index): [number, number][] => {
    const next = words[index + 1]?.[0] ?? '';
    if (OBJECTS.has(`${word[0]} ${next}`))
      return [[word.index, (words[index + 1]?.index ?? 0) + next.length]];
    const isObject = OBJECTS.has(word[0]) || /^z[pc]_*$/.test(word[0]);
    const isOther = next === 'of' && words[index + 2]?.[0] === 'conduct';
    return isObject && !isOther && !/^words?$/.test(next) ? [[word.index, word.index + word[0].length]] : [];
  });
}

function first(request: RequestText, hits: Iterable<Hit>): Finding {
  let refused: Hit | undefined;
  let tried = 0;
  for (const { at, length } of hits) {
    tried += 1;
    const judged = judge(request, at, length);
    if (judged.hit !== undefined) return judged;
    refused ??= judged.refused;
    if (tried === MAX_HITS) break;
  }
  return refused === undefined ? {} : { refused };
}

/** Somebody is spoken to, or work is handed over. */
const HANDS_OVER = String.raw`(?:ask|use|using|have|let|tell|get|launch|call|consult|ping|involve|need|want|summon|bring in|loop in|send|run|start|wake|with|via|by|through|from|(?:give|hand|delegate|assign|send|pass|leave|turn)(?: (?:it|this|that|them|the [a-z]+))?(?: over)? to)`;
/** A name behind one of these is somebody else's, or a topic. */
const OTHER_PERSON =
  /\b(?:about|named|called|user|users|customer|client|colleague|boss|friend|neighbou?r|brother|sister|uncle|aunt|cousin|mr|mrs|ms|dr|king|queen|saint|st|emperor|novel by|book by|song by|(?:e-?mail|mail|message|letter|note|reply|card|present|gift) (?:to|for|from)|birthday of)\.? $/i;
/** An abbreviated title, whose full stop would otherwise end the clause: "St. Marcus", "Dr. Will". */
const TITLED = /\b(?:mr|mrs|ms|dr|st|prof|sr|jr|rev)\. ?$/i;

/** The agents of the roster that the request names; the first of them is the hit (service.md: rule 4). */
export function findNamed(asked: Asked): Finding {
  const found = namedIn(asked);
  const hits = found.flatMap(({ finding }) => (finding.hit === undefined ? [] : [finding.hit]));
  const hit = hits.sort((a, b) => a.at - b.at)[0];
  const refused = found.find(({ finding }) => finding.refused !== undefined)?.finding.refused;
  return { ...(hit === undefined ? {} : { hit }), ...(refused === undefined ? {} : { refused }) };
}

/** The same agents, in the order in which they are named. */
export function namedAgents(asked: Asked): NamedAgent[] {
  return namedIn(asked)
    .flatMap(({ agent, finding }) => (finding.hit === undefined ? [] : [{ agent, at: finding.hit.at }]))
    .sort((a, b) => a.at - b.at)
    .map(({ agent }) => agent);
}

function namedIn(asked: Asked): { agent: NamedAgent; finding: Finding }[] {
  return asked.named.map((agent) => {
    const byName = findName(asked, agent);
    return { agent, finding: byName.hit === undefined ? { ...byRole(asked, agent), ...byName } : byName };
  });
}

/**
 * Names are compared in the text as it was written: many are words too (Will, Art, Rook). In any case where
 * somebody is spoken to ("ask will to"), else only as the roster spells them and not as part of a longer name.
 */
function findName({ request }: Asked, { name, slug }: NamedAgent): Finding {
  let refused: Hit | undefined;
  for (const spelled of new Set([name, slug])) {
    const own = escaped(spelled);
    const edge = String.raw`(?![\p{L}\p{N}_-])`;
    const patterns = [
      new RegExp(String.raw`(?<![\p{L}\p{N}_])@(?<n>${own})${edge}`, 'giu'),
      new RegExp(
        String.raw`(?<![\p{L}\p{N}_])${HANDS_OVER} (?:the agent |agent |our agent )?(?<n>${own})${edge}`,
        'giu',
      ),
      new RegExp(
        String.raw`(?:^|[.!?\n][^\S\n]*)(?:hey |hi |ok |okay )?(?<n>${own})(?=\s*[,:]| (?:should|must|please|can you|could you)\b)`,
        'giu',
      ),
      new RegExp(String.raw`(?<![\p{L}\p{N}_@.-])(?<n>${own})${edge}(?! [\p{Lu}])`, 'gu'),
    ];
    for (const [index, pattern] of patterns.entries()) {
      // As a word of its own, without being spoken to, it has to look like a name.
      if (index === 3 && (!/^\p{Lu}/u.test(spelled) || isSentenceWord(request.plain, spelled))) continue;
      const checked = firstCounting(request.plain, request.text, pattern);
      if (checked.hit !== undefined) return checked;
      refused ??= checked.refused;
    }
  }
  return refused === undefined ? {} : { refused };
}

function firstCounting(plain: string, text: string, pattern: RegExp): Finding {
  let refused: Hit | undefined;
  for (const found of plain.matchAll(pattern)) {
    const name = found.groups?.['n'] ?? '';
    const at = found.index + found[0].lastIndexOf(name);
    if (OTHER_PERSON.test(`${clauseBefore(plain, at, 4)} `) || TITLED.test(plain.slice(0, at))) continue;
    const finding = judge({ plain, text }, at, name.length);
    if (finding.hit !== undefined) return finding;
    refused ??= finding.refused;
  }
  return refused === undefined ? {} : { refused };
}

/** A name that is an English word says nothing at the beginning of a sentence: "Will it rain?" */
function isSentenceWord(plain: string, name: string): boolean {
  return (
    COMMON_WORDS.has(name.toLowerCase()) &&
    new RegExp(`(?:^|[.!?\\n][^\\S\\n]*)${escaped(name)} `, 'u').test(plain)
  );
}

const COMMON_WORDS = new Set(
  'will art rook may mark bill rose grace hope faith joy dawn june april august summer frank chase grant jack pat drew guy rich sue dean ray rob max miles iris ivy sage reed wade'.split(' '),
); // prettier-ignore

/** "the security specialist": a role that one agent alone of the roster has, and to whom something is handed. */
function byRole(asked: Asked, agent: NamedAgent): Finding {
  const role = agent.role?.toLowerCase() ?? '';
  if (!/^[a-z][a-z -]{2,60}$/.test(role)) return {};
  if (asked.named.filter((other) => other.role?.toLowerCase() === role).length > 1) return {};
  return look(asked.request, {
    stems: [role],
    any: () => [rx(String.raw`\b${HANDS_OVER} (?:the|our|my|your) (?<w>${escaped(role)})\b`)],
  });
}

/** How many agents: as `--count` says, else as the request does; null: one, and nobody counted. */
export function countOf(rule: Rule, hit: Hit, asked: Asked, warnings: string[]): number | null {
  if (asked.count !== null) return asked.count;
  if (!COUNTED.has(rule.gives.worker)) return null;
  const said = numberIn(asked.request.text);
  if (said !== undefined) {
    if (said > MAX_BRIEFS)
      warnings.push(`${said} agents are asked for; one request launches ${MAX_BRIEFS} at most.`);
    return Math.max(1, Math.min(said, MAX_BRIEFS));
  }
  if (rule.gives.worker !== 'custom' || !/(?:s|ones)$/i.test(hit.words)) return null;
  // One a perspective: those that the request names, else three.
  const perspectives = traitsIn('expertise', asked.request.text).length;
  return perspectives > 1 ? perspectives : 3;
}

const COUNTED: ReadonlySet<Worker> = new Set<Worker>(['custom', 'team', 'research', 'builtin']);
const NUMBER_WORDS: readonly string[] = [
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const COUNTED_NOUN =
  /^(?:(?:sub-?)?agents?|specialists?|experts?|reviewers?|personas?|workers?|critics?|advis[eo]rs?|analysts?|researchers?|perspectives?|briefs)$/;

/** "five custom agents", "3 reviewers": a number, and whom it counts in the four words behind it. */
function numberIn(text: string): number | undefined {
  const words = text.split(/[\s(]+/);
  for (const [index, word] of words.entries()) {
    const number = /^\d{1,6}$/.test(word) ? Number(word) : numberOf(word, words[index - 1], words[index + 1]);
    if (number === undefined) continue;
    for (const next of words.slice(index + 1, index + 5)) {
      if (COUNTED_NOUN.test(next.replace(/(?<![.,;:!?)'"])[.,;:!?)'"]+$/, ''))) return number;
      if (/[.,;:!?]$/.test(next)) break;
    }
  }
  return undefined;
}

function numberOf(word: string, before: string | undefined, after: string | undefined): number | undefined {
  if (before === 'a' && word === 'dozen') return 12;
  if (before === 'a' && word === 'couple' && after === 'of') return 2;
  const at = NUMBER_WORDS.indexOf(word);
  return at === -1 ? undefined : at + 1;
}
