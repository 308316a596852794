/** The words that the contexts of "live" are made of: alternatives of regular expressions, in lower case. */

export const ADVERB =
  '(?:now|not|still|already|also|again|just|all|both|back|almost|always|never|only|here|there|up and|about|once|once again|soon|yet|no longer|even|quite|very|\\d+ ?%|\\p{L}+ly)';

export const COPULA = "is|are|was|were|am|be|been|being|isn't|aren't|wasn't|weren't|ain't|isnt|arent|wasnt";

export const DETERMINER = 'a|an|the|my|your|our|their|its|his|every|no|another';

export const AGE = 'new|old|updated|latest|main|beta|whole|entire|first|next|last';

/** Those who may live, right before the verb. */
export const SUBJECT =
  'i|you|we|they|he|she|who|whoever|people|folks|children|kids|men|women|humans|families|everybody|everyone|others';

export const WHERE = 'where|wherever|how|however|the way|ways|place|places|why';

/** Words in s that are no plural. */
export const NO_PLURAL =
  'is|was|this|its|his|us|goes|has|does|as|plus|versus|always|perhaps|across|towards|shows|plays|streams|uses|sees|gets|needs|stores|handles|receives|serves|reads|sends|offers';

/** Two words of which "live" is the first: somebody may do these. */
export const COMPOUND =
  'stream(?:s|ed|ing|er|ers)?|blog(?:s|ged|ging)?|tweet(?:s|ed|ing)?|cod(?:e|ed|ing)|caption(?:s|ed|ing)?|chat(?:s|ted|ting)?|test(?:ed|ing)|edit(?:s|ed|ing)|reload(?:s|ed|ing)?|broadcast(?:s|ing)?|recordings?';

export const HANDS_OVER =
  'bring|brings|bringing|brought|give|gives|gave|given|giving|show|shows|showing|showed|send|sends|sending|sent|offer|offers|offering|get|gets|getting|provide|feed|feeds|deliver|play|plays|let|lets';

/** Verb forms of a thing's name: "creatures that live show …". */
export const ALSO_VERBS =
  'reports?|shows?|supports?|tests?|calls?|links?|feeds?|records?|sounds?|features?|matches|views?|runs?|deals?|checks?|updates?|results?|matters?';

/** What is not respelled behind a hyphen: "live-in nanny". */
export const NOT_HYPHENED =
  'and|in|out|on|off|for|work|learn|alone|long|forever|through|by|at|with|as|or|to|near|together|free|large|love';

/** What is broadcast, in operation or watched as it happens. */
export const THING =
  'streams?|streaming|broadcasts?|broadcasting|shows?|events?|music|concerts?|gigs?|performances?|performers?|sessions?|demos?|demonstrations?|chats?|videos?|audio|feeds?|data|coverage|updates?|site|sites|website|websites|pages?|systems?|servers?|environments?|production|traffic|users?|customers?|audiences?|crowds?|viewers?|tv|television|radio|recordings?|albums?|versions?|calls?|class|classes|webinars?|workshops?|trainings?|lessons?|lectures?|seminars?|courses?|podcasts?|episodes?|premieres?|q&a|q and a|q&as|bands?|tours?|sets?|match|matches|games?|sports?|scores?|scoring|results?|blogs?|captions?|captioning|transcripts?|transcriptions?|translations?|subtitles|previews?|reload|reloading|views?|dashboards?|metrics|charts?|graphs?|logs?|debugging|debuggers?|coding|code|databases?|instances?|clusters?|deployments?|deploys?|releases?|accounts?|wires?|ammo|ammunition|fire|rounds?|grenades?|mines?|bullets?|rail|rails|links?|shares?|sharing|photos?|action|theat(?:er|re)|comedy|entertainment|orchestra|auctions?|betting|bets?|trading|trades|prices?|pricing|tickers?|rates?|quotes?|maps?|locations?|tracking|trackers?|support|agents?|help|studios?|mics?|microphones?|cameras?|cams?|webcams?|footage|interviews?|debates?|reporting|reports?|news|newscasts?|bulletins?|press|conferences?|briefings?|speech|speeches|keynotes?|talks?|launch|countdowns?|polls?|polling|votes?|voting|quiz|quizzes|trials?|tests?|testing|checks?|runs?|wallpapers?|tiles?|activity|activities|notifications?|alerts?|mode|status|badges?|indicators?|consoles?|rehearsals?|drums|vocals|sound|djs?|cooking|readings?|commentary|streamers?|channels?|programs?|programmes?|programming|shots?|objects?|variables?|nodes?|endpoints?|apis?|keys?|credentials|exploits?|targets?|markets?|casinos?|stages?|venues?|tracks?|issues?|questions?|concerns?|topics?|debuggers?|queries|query|counts?|counters?|numbers|stats|statistics|figures|editing|edits?|collaboration|documents?|docs|templates?|forms?|apps?|applications?|products?|features?|content|configs?|configurations?|changes|threads?|discussions?|panels?|conversations?|meetings?|presentations?|presenters?|hosts?|guests?|experiences?|aid|nation|oak|oaks|earth|pd|visits?|tastings?|weather|timers?|clocks?|cd|dvd|dvds?|lps?|bootlegs?|cut|cuts|encoder|encoders|captures?|monitoring|mutations?|connections?|sockets?|process|processes|network|networks|domains?|urls?|orders?|payments?|transactions?|money|funds|credit|feedback|current|circuits?|cables?|lines?|outlets?|lava|incidents?|outages?|voltage|load|volcano|volcanoes|steam|coals?|embers|ball|balls|play|odds';

/** Living things, that may follow the verb without a comma: "to live plants need water". */
export const LIVING =
  'animals?|bait|births?|bees?|cattle|chickens?|hens?|lobsters?|crabs?|fish|shrimp|oysters?|plants?|trees?|cultures?|cells?|tissue|vaccines?|virus|viruses|bacteria|insects?|mice|rats?|rodents?|snakes?|birds?|crickets?|worms?|specimens?|organisms?|donors?|organs?|colony|colonies|coral|prey|sheep|pigs?|turkeys?|yeast|edges?';

/** What may stand between the word and its thing. */
export const MODIFIER =
  'online|virtual|interactive|acoustic|musical|streaming|customer|user|audio|video|tv|television|sports?|stock|election|score|chat|remote|public|local|national|international|daily|weekly|monthly|annual|evening|morning|weather|football|soccer|basketball|baseball|tennis|studio|in-person|two-way|real-time|hands-on|outdoor|jazz|rock|folk|pop|classical|piano|guitar|production|product|web|press|news|group|team|community|panel|onstage|global|full|free|paid|cooking|game|market|price|traffic|health|server|error|debug|build|code|coding|new|big|small|great|double|solo|final|special|private|secure|hd|4k|360|multi-camera|human|technical|instructor-led|expert|radio|concert|orchestral|choral|theatrical|electrical|sound|data|event|speaker|world|charity|fan|shopping|auction';

/** What a show is beside being live: "live and in person", "live, interactive sessions". */
export const OR_ELSE =
  'in[- ]person|in colou?r|on[- ]demand|direct|recorded|unplugged|virtual|pre-?recorded|uncut|uncensored|unedited|unscripted|interactive|kicking|online|archived|in[- ]studio|on[- ]air|on stage|real-time|hands-on|instructor-led|nationwide|worldwide|coast to coast|watch(?:ed)? later|taped|delayed';

export const NAMES =
  'xbox|playstation|ableton|(?:friday|saturday|sunday|monday) night|windows|apple music|google|bbc|top gear|youtube|facebook|instagram|tiktok|linkedin';

const DAY =
  '(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tue|wed|thu|fri|sat|sun|christmas|new year|launch day|election day';
const MONTH =
  'january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter|q[1-4]';
const NUMBER =
  '\\d[\\d:.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty';
const HOUR_END =
  '(?: ?(?:am|pm|a\\.m|p\\.m|o\'clock|utc|gmt|cet|est|pst|et|pt|eastern|pacific|central|sharp|local|on|this|today|tonight|tomorrow|every)\\b|\\s*[.!?,;:)"]|\\s*$)';
/** Units of time with an end that shows that no house number is meant. */
const SPAN = 'seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|years?';

export const PERIOD = `night|morning|afternoon|evening|weekend|week|month|year|quarter|season|spring|summer|autumn|fall|winter|${DAY}`;
export const AT_TIME = `at (?:about |around |exactly )?(?:(?:${NUMBER})${HOUR_END}|noon|midnight|half past|quarter (?:past|to)|launch\\b)|in (?:about |under |less than |just |exactly |another |t-)*(?:\\d[\\d.]*\\s*(?:[.!?,;:)"]|$)|(?:${NUMBER}|a|an|a few|a couple of|half an) ?(?:${SPAN}|moment|bit)\\b)|in (?:three, two|3, ?2|five\\s*(?:$|[.!,]))`;

export const TIME = `right now|now|today|tonight|tomorrow|yesterday|(?:this|next|last|later this|earlier this) (?:${PERIOD})|every (?:day|night|hour|other|${PERIOD})|(?:on |by |until )(?:${DAY}|the \\d|\\d)|(?:in|by|on) (?:${MONTH})\\b|in (?:the (?:morning|afternoon|evening|coming|next)|\\d{4})\\b|${AT_TIME}|by (?:noon|midnight|tomorrow|tonight|eod|end of|the end|next)|(?:after|before) (?:the )?(?:\\d|noon|lunch|launch|break|show|holidays|weekend|event|deadline|game|match)|later|soon|again|shortly|immediately|worldwide|globally|nationwide|24/7|around the clock|for the first time|twice|once|throughout`;

export const PLATFORM =
  '(?:only |exclusively )?(?:on|via|over) (?:air|the air|stage|the (?:main |big )?(?:stage|screen)|tv|television|(?:the |local |public |national )?(?:radio|television|tv)|the (?:web|internet|website|site|app|app store|play store|stream|channel|blog|air)|cable|satellite|youtube|twitch|facebook|instagram|tiktok|linkedin|x|twitter|zoom|teams|discord|spotify|netflix|prime|bbc|cnn|nbc|abc|cbs|fox|espn|sky|hbo|itv|pbs|npr|c-span|channel|npm|pypi|github|aws|azure|production|prod|staging|camera|screen|video|webcam|animal planet|(?:all|several|both|many) (?:channels|networks|platforms|stations))\\b|through the (?:web|internet)';

export const STAGE =
  'in (?:concert|studio|the studio|session|person|production|prod|front of|hd|4k|colou?r|stereo)\\b|on (?:stage|tour)\\b|to air\\b|to tape\\b|via\\b|with (?:host|guest|our host|our guest|special guest)\\b';

export const NO_ORIGIN =
  '(?:\\p{L}+ to|hand|day|paycheck|month|moment|your|the heart|farming|fishing|hunting|tourism|savings|benefits)\\b';

export const PLACE = `${STAGE}|in (?:staging|action|all regions|the (?:lobby|arena|stadium|theat(?:er|re)|park|hall|club|bar|pub|main hall|auditorium|lounge))\\b|at (?!home|my|his|her|their|our|your|an?\\b|sea|peace|\\d)\\p{L}|from (?!${NO_ORIGIN})`;

/** How something is launched, behind "go live". */
export const LAUNCHED =
  "in (?:production|prod|staging|front of|all regions|the (?:app store|store|cloud|eu|us))|with (?:[\\p{L}\\p{N}.'-]+ ){0,4}?(?:site|website|version|v?\\d[\\d.]*|features?|release|launch|updates?|upgrade|build|apps?|service|stream|store|shop|campaign|products?|platform|system|page|beta|changes?|deploy|deployment|api|redesign|backend|frontend|code|fix|patch|migration|pipeline|model|project|show|pilot|integration|plugin|episode|interview|coverage)\\b|for (?:everyone|everybody|all|customers|users|testing|the public|the first time|beta)\\b|as (?:planned|scheduled|soon|early|expected|promised|is|part)\\b|without (?:a (?:hitch|backup|plan|rollback|review|test)|any|issues?|problems?|downtime|incidents?|errors?|tests?|testing|approval|review|warning|notice|delay)\\b|the (?:same|next|following|first|day|week|moment|morning|minute)\\b|to (?:the public|everyone|all|customers|users|\\d)|on (?:our|all|both|time|schedule|launch)\\b|at (?:launch|once)\\b";

/** What follows somebody who goes somewhere to live there. */
export const DWELLING =
  'in|with|on|at|near|by|off|among|under|over|there|here|somewhere|elsewhere|anywhere|alone|together|your|my|his|her|their|our|an?|the|life|like|as|happily|abroad|downtown|outside|inside|for|without|out|up|down|across|close|next|through|within|free|simply|large|well';

/** Of these only a broadcast is said. */
export const TRANSMIT =
  'streaming|streamed|broadcasting|broadcasted|is broadcast|are broadcast|was broadcast|were broadcast|be broadcast|been broadcast|aired|airing|televised|reporting|performing|playing|singing|recording|presenting|speaking|appearing|tuned in|tuning in|relayed|transmitted|simulcast';

export const BROADCAST =
  'watch|watches|watched|watching|see|sees|saw|seen|catch|catches|caught|hear|hears|heard|stream|streams|streamed|air|airs|aired|broadcast|broadcasts|perform|performs|performed|play|plays|played|sing|sings|sang|sung|record|records|recorded|report|reports|reported|join|joins|joined|follow|follows|followed|following|listen|listens|listening|tune in|tunes in|attend|view|viewed|show|shows|shown|showed|speak|speaks|spoke|present|presents|presented|appear|appears|appeared|demo|demoed|film|filmed|shot|captured|taped|mixed|covered|carried|starts|started|begins|tracked|premieres|premiered|available|interviewed|announced|answered|unveiled|revealed|debut|debuted';

/** What puts something into operation. */
export const MOVE =
  'push|pushes|pushed|pushing|put|puts|putting|take|takes|took|taken|taking|bring|brings|brought|bringing|get|gets|getting|got|have|has|had|having|make|makes|made|making|set|sets|setting|turn|turned|keep|keeps|kept|ship|shipped|deploy|deployed|publish|published|switch|switched|roll|rolled';

export const NOT_BETWEEN =
  'where|wherever|how|who|whom|that|which|what|why|when|if|to|and|or|but|people|i|we|they|he|she|you|will|would|can|could|should|must|may|might|do|does|did|not|never';

/** Those of whom it may be said that they are seen to live. */
export const PERSON =
  "patients?|child|children|bab(?:y|ies)|grandchildren|grandparents|son|sons|daughters?|kids?|boys?|girls?|dogs?|cats?|animals?|plants?|parents|family|families|friends|man|men|woman|women|people|prisoners?|king|queen|where|how|who|that|which|what|to|and|or|i|we|they|he|she|who|not|never|will|would|can|could|should|must|may|might|do|does|did|don't|doesn't|didn't|won't|can't|'ll|half|one|ones|many|some|others|most|all|both|few";

/** With one of these before it, a thing may be said to live: "where should the feature live". */
export const HELPER =
  "do|does|did|don't|doesn't|didn't|will|would|won't|shall|should|can|could|can't|cannot|may|might|must|to|let|lets|help|helps|make|makes|where|how|why|who|that|which";

/** What is shown, one of it: a plural might be said to live. */
export const SHOWN =
  'stream|show|event|broadcast|game|match|keynote|site|feature|release|build|deploy|deployment|version|page|app|webinar|session|concert|demo|talk|episode|interview|conference|launch|finale|final|premiere|race|debate|ceremony|news';
