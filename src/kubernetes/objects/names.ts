/**
 * The name formats of Kubernetes (RFC 1123, RFC 1035, qualified names, label values), with the same results as
 * `k8s.io/apimachinery/pkg/util/validation`. Each function returns the problems, one sentence each; an empty array
 * means that the value is valid.
 */

/** Classes of characters, as bit flags. */
const lowerCase = 1;
const digit = 2;
const upperCase = 4;
const hyphen = 8;
const dot = 16;
const underscore = 32;

/** The class of each ASCII character; 0 for characters that no name may contain. */
const classes = new Uint8Array(128);
for (let code = 0; code < classes.length; code++) {
  const character = String.fromCharCode(code);
  classes[code] =
    (/[a-z]/.test(character) ? lowerCase : 0) |
    (/[0-9]/.test(character) ? digit : 0) |
    (/[A-Z]/.test(character) ? upperCase : 0) |
    (character === '-' ? hyphen : 0) |
    (character === '.' ? dot : 0) |
    (character === '_' ? underscore : 0);
}

/** A name format: which characters are allowed, and which at the beginning and the end. */
interface NameFormat {
  all: number;
  first: number;
  last: number;
  /** Whether dots separate labels, each of which follows the rules for the beginning and the end. */
  isDotted: boolean;
}

const lowerCaseOrDigit = lowerCase | digit;
const letterOrDigit = lowerCaseOrDigit | upperCase;
const labelCharacters = lowerCaseOrDigit | hyphen;

const dns1123Label = { all: labelCharacters, first: lowerCaseOrDigit, last: lowerCaseOrDigit, isDotted: false };
const dns1123Subdomain = {
  all: labelCharacters | dot,
  first: lowerCaseOrDigit,
  last: lowerCaseOrDigit,
  isDotted: true,
};
const dns1035Label = { all: labelCharacters, first: lowerCase, last: lowerCaseOrDigit, isDotted: false };
const qualifiedNamePart = {
  all: letterOrDigit | hyphen | underscore | dot,
  first: letterOrDigit,
  last: letterOrDigit,
  isDotted: false,
};

/**
 * Whether a text matches a format. One loop for all formats instead of regular expressions: every review contains some
 * ten names, and the machine code of thirty expressions does not stay in the processor's caches between two requests.
 */
function isOfFormat(text: string, { all, first, last, isDotted }: NameFormat): boolean {
  let before = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const found = code < classes.length ? (classes[code] as number) : 0;
    if ((found & all) === 0) {
      return false;
    }
    const isFirst = at === 0 || (isDotted && before === dot);
    if ((isFirst && (found & first) === 0) || (isDotted && found === dot && (before & last) === 0)) {
      return false;
    }
    before = found;
  }
  return (before & last) !== 0;
}

/** Longest label of a DNS name, in bytes (RFC 1035, 2.3.4). */
const maxLabelLength = 63;
/** Longest DNS subdomain that Kubernetes accepts, in bytes. */
const maxSubdomainLength = 253;

function problems(value: string, maxBytes: number, format: NameFormat, sentence: string): string[] {
  if (isOfFormat(value, format)) {
    return value.length > maxBytes ? [`must be no more than ${maxBytes} bytes`] : [];
  }
  // Kubernetes counts bytes, and characters beyond ASCII have several.
  return Buffer.byteLength(value) > maxBytes ? [`must be no more than ${maxBytes} bytes`, sentence] : [sentence];
}

/** RFC 1123 label: at most 63 lower case letters, digits and '-', begins and ends with a letter or digit. */
export function dns1123LabelProblems(value: string): string[] {
  return problems(
    value,
    maxLabelLength,
    dns1123Label,
    "must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
  );
}

/** RFC 1123 subdomain: RFC 1123 labels joined by dots, at most 253 bytes. */
export function dns1123SubdomainProblems(value: string): string[] {
  return problems(
    value,
    maxSubdomainLength,
    dns1123Subdomain,
    "must consist of lower case letters, digits, '-' and '.', and begin and end with a letter or digit (e.g. 'example.com')",
  );
}

/** RFC 1035 label, the format of a Service's name: like an RFC 1123 label, but it begins with a letter. */
export function dns1035LabelProblems(value: string): string[] {
  return problems(
    value,
    maxLabelLength,
    dns1035Label,
    "must consist of lower case letters, digits and '-', begin with a letter and end with a letter or digit (e.g. 'my-name')",
  );
}

/** Key of a label or annotation: an optional DNS subdomain and '/', then a name of at most 63 bytes. */
export function qualifiedNameProblems(value: string): string[] {
  const slash = value.indexOf('/');
  if (slash !== -1 && value.includes('/', slash + 1)) {
    return [
      "must be a name with an optional DNS subdomain prefix and one '/' between them (e.g. 'example.com/MyName')",
    ];
  }
  const found: string[] = [];
  const name = value.slice(slash + 1);
  if (slash === 0) {
    found.push('prefix part must not be empty');
  } else if (slash > 0) {
    for (const problem of dns1123SubdomainProblems(value.slice(0, slash))) {
      found.push(`prefix part ${problem}`);
    }
  }
  if (name === '') {
    found.push('name part must not be empty');
    return found;
  }
  const sentence =
    "must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')";
  for (const problem of problems(name, maxLabelLength, qualifiedNamePart, sentence)) {
    found.push(`name part ${problem}`);
  }
  return found;
}

/** Value of a label: empty, or at most 63 bytes of letters, digits, '-', '_' and '.'. */
export function labelValueProblems(value: string): string[] {
  if (value === '') {
    return [];
  }
  return problems(
    value,
    maxLabelLength,
    qualifiedNamePart,
    "must be empty, or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'my_value')",
  );
}

/** Whether a number is a valid TCP port, 1 to 65535. */
export function isPortNumber(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65535;
}
