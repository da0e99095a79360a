/** How many characters at the end of a name are looked at. */
const maxEnd = 64;

/** What names of secrets end with, whatever is before it: `dbpassword`. */
const ends =
  /(?:password|passwd|passphrase|pwd|secret|token|credential|dockercfg|dockerconfigjson|(?:api|access|private|secret|ssh|tls|encryption|license|client|auth)key)s?$/;
/** The same, as words of their own: `compass` is not secret. */
const words = new Set(['pass', 'pw', 'auth', 'cred', 'creds', 'bearer', 'jwt', 'psk', 'kubeconfig']);
/** Keys that are not secret, by the word before: `topologyKey`. */
const publicKeys = new Set(
  'annotation authorized config foreign group label map node object partition primary public sort taint topology'.split(
    ' ',
  ),
);
/** What may come after the name of a secret: `client-key-data`, `passwordHash`. */
const forms = new Set('b64 base64 data encoded hash hashed pem plain string text value'.split(' '));

/** Whether a name says that its value is a secret, in any spelling (`dbPassword`, `DB_PASSWORD`); not `tokenSecretRef`. */
export function looksSecret(name: string): boolean {
  const parts = name
    .slice(-maxEnd)
    .replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1 ')
    .replaceAll(/([A-Z])(?=[A-Z][a-z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((part) => (forms.has(part) ? part : part.replace(/\d{1,4}$/, '')))
    .filter((part) => part !== '');
  while (parts.length > 1 && forms.has(parts.at(-1) ?? '')) {
    parts.pop();
  }
  const [last = '', before = ''] = parts.toReversed();
  return ends.test(last) || words.has(last) || (/^keys?$/.test(last) && before !== '' && !publicKeys.has(before));
}

/** What is written instead of a secret. */
export const notShown = '(not shown)';

const privateKey = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/;

const shapes: readonly { what: string; expressions: readonly RegExp[] }[] = [
  // Also in base64, where certificates and public keys begin otherwise.
  { what: 'a private key', expressions: [privateKey, /LS0tLS1CRUdJTiB(?!DRVJU|QVUJM)/] },
  { what: 'a token (JWT)', expressions: [/\beyJ[\w-]{8,16}/] },
  { what: 'a bootstrap token', expressions: [/(?<![\w.-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.-])/] },
  {
    what: 'an access key',
    expressions: [
      /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
      /\bgh[pousr]_\w{36}/,
      /\bgithub_pat_\w{22}/,
      /\bglpat-[\w-]{20}/,
      /\bxox[abeprs]-[\w-]{10}/,
      /\bAIza[\w-]{35}/,
    ],
  },
  { what: 'a URL with a password', expressions: [/:\/\/[^/\s:@]{0,100}:[^/\s:@]{1,100}@/] },
  { what: 'a bearer token', expressions: [/(?<label>\b(?:Bearer|Basic) )[\w.~+/=-]{16}/i] },
];

/** Something labelled as a secret, also in a sentence. */
const labelled =
  /(?<label>\b(?:password|passwd|passphrase|token|api[-_]?key|client[-_]?secret|secret[-_]?key)["']? ?[=:] ?["']?)(?!\{\{)[^\s"']{4}/i;

/** What a text contains that looks like a secret, in words. */
export const secretShapes = (text: string): string[] => [
  ...shapes.filter(({ expressions }) => expressions.some((one) => one.test(text))).map(({ what }) => what),
  ...(labelled.test(text) ? ['something labelled as a password, token or secret'] : []),
];

/** A name with a value that is no template: `DB_PASSWORD=`, `"auth": "`, `--token `. */
const assignment =
  /(?<flag>--)?(?<name>[\w.-]{1,64})(?<sign>["']?[ \t]{0,8}[=:][ \t]{0,8}|(?<=--[\w.-]{1,64}) )["']?(?=[^\s"'])(?!\{\{)/g;
/** The same at the end of a line, with its value below: `password:`, `- token: >-`. */
const assignmentAbove = /([\w.-]{1,64})["']?[ \t]{0,8}[=:][ \t]{0,8}([|>][-+\d]{0,2})?[ \t]{0,8}$/;

/** Where the value of the first name that looks secret begins. What comes after a colon in a sentence is none. */
function assignedAt(line: string): number | undefined {
  for (const { 0: text, index, groups } of line.matchAll(assignment)) {
    const isSentence = groups?.sign?.endsWith(': ') && /[\w)] ["']?$/.test(line.slice(Math.max(0, index - 3), index));
    if (!isSentence && looksSecret(groups?.name ?? '')) {
      return index + text.length;
    }
  }
  return undefined;
}

function secretAt(line: string): number | undefined {
  const expressions = [...shapes.flatMap((shape) => shape.expressions), labelled];
  const starts = expressions.flatMap((expression) => {
    const match = expression.exec(line);
    return match === null ? [] : [match.index + (match.groups?.label?.length ?? 0)];
  });
  // `echo "user:password" | chpasswd`
  const all = [...starts, assignedAt(line), /\bchpasswd\b/.test(line) ? 0 : undefined].filter((at) => at !== undefined);
  return all.length === 0 ? undefined : Math.min(...all);
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

const field = /^[\s-]{0,200}["']?[\w.-]{1,100}["']?:(?:\s|$)/;

/**
 * A text without secrets that are recognized by their shape or label: each is left out with the rest of its line, a private
 * key up to its last line, and what is below a label, as YAML has it.
 */
export function withoutSecrets(text: string): string {
  let isInKey = false;
  let above: { indent: number; isBlock: boolean } | undefined;
  const lines = text.split('\n').map((line) => {
    if (isInKey) {
      isInKey = !line.includes('-----END ');
      return line.replace(/\S.*/, notShown);
    }
    if (above !== undefined && line.trim() !== '') {
      if (indentOf(line) > above.indent && (above.isBlock || !field.test(line))) {
        return line.replace(/\S.*/, notShown);
      }
      above = undefined;
    }
    const label = assignmentAbove.exec(line);
    if (label !== null && looksSecret(label[1] ?? '')) {
      above = { indent: indentOf(line), isBlock: label[2] !== undefined };
    }
    const at = above === undefined ? secretAt(line) : undefined;
    isInKey = privateKey.test(line) && !line.includes('-----END ');
    return at === undefined ? line : `${line.slice(0, at)}${notShown}`;
  });
  return lines.join('\n');
}
