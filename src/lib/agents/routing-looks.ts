import { asksPerson, needsLocal } from './check';
import { findCode } from './routing-code';
import { look, type Finding, type Look } from './routing-match';
import type { AgentTypes, Asked } from './routing-types';
import { escaped, rx, W } from './routing-words';

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
