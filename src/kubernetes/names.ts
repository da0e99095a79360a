/**
 * The name formats of Kubernetes (RFC 1123, RFC 1035, qualified names, label values), with the same verdicts as
 * `k8s.io/apimachinery/pkg/util/validation`. Each function returns what is wrong, one sentence a problem; an empty
 * array means that the value is fine.
 */

/** Whether a text has a character in front, and another behind (the same one where it has only one). */
function isEnclosedBy(text: string, first: RegExp, last: RegExp): boolean {
  return first.test(text.charAt(0)) && last.test(text.charAt(text.length - 1));
}

// Each format is checked as forbidden characters, forbidden pairs, and the first and last character: names come in any
// length, and such patterns never backtrack.
const lowerCase = /[a-z]/;
const lowerCaseOrDigit = /[a-z0-9]/;
const letterOrDigit = /[A-Za-z0-9]/;

const isDns1123Label = (text: string) =>
  !/[^-a-z0-9]/.test(text) && isEnclosedBy(text, lowerCaseOrDigit, lowerCaseOrDigit);
const isDns1123Subdomain = (text: string) =>
  !/[^-.a-z0-9]|\.[-.]|-\./.test(text) && isEnclosedBy(text, lowerCaseOrDigit, lowerCaseOrDigit);
const isDns1035Label = (text: string) => !/[^-a-z0-9]/.test(text) && isEnclosedBy(text, lowerCase, lowerCaseOrDigit);
const isQualifiedNamePart = (text: string) =>
  !/[^-A-Za-z0-9_.]/.test(text) && isEnclosedBy(text, letterOrDigit, letterOrDigit);

/** Longest label of a DNS name, in bytes (RFC 1035, 2.3.4). */
const maxLabelLength = 63;
/** Longest DNS subdomain that Kubernetes takes, in bytes. */
const maxSubdomainLength = 253;

const utf8 = new TextEncoder();

function problems(value: string, maxBytes: number, isOfFormat: (text: string) => boolean, sentence: string): string[] {
  const found: string[] = [];
  // Kubernetes counts bytes; a UTF-16 unit takes at most three.
  if (value.length > maxBytes || (value.length * 3 > maxBytes && utf8.encode(value).length > maxBytes)) {
    found.push(`must be no more than ${maxBytes} bytes`);
  }
  if (!isOfFormat(value)) {
    found.push(sentence);
  }
  return found;
}

/** RFC 1123 label: at most 63 lower case letters, digits and '-', begins and ends with a letter or digit. */
export function dns1123LabelProblems(value: string): string[] {
  return problems(
    value,
    maxLabelLength,
    isDns1123Label,
    "must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')",
  );
}

/** RFC 1123 subdomain: RFC 1123 labels joined by dots, at most 253 bytes. */
export function dns1123SubdomainProblems(value: string): string[] {
  return problems(
    value,
    maxSubdomainLength,
    isDns1123Subdomain,
    "must consist of lower case letters, digits, '-' and '.', and begin and end with a letter or digit (e.g. 'example.com')",
  );
}

/** RFC 1035 label, the format of a Service's name: like an RFC 1123 label, but it begins with a letter. */
export function dns1035LabelProblems(value: string): string[] {
  return problems(
    value,
    maxLabelLength,
    isDns1035Label,
    "must consist of lower case letters, digits and '-', begin with a letter and end with a letter or digit (e.g. 'my-name')",
  );
}

/** Key of a label or annotation: an optional DNS subdomain and '/', then a name of at most 63 bytes. */
export function qualifiedNameProblems(value: string): string[] {
  const slash = value.indexOf('/');
  if (slash !== value.lastIndexOf('/')) {
    return [
      "must be a name with an optional DNS subdomain prefix and one '/' between them (e.g. 'example.com/MyName')",
    ];
  }
  const found: string[] = [];
  const name = value.slice(slash + 1);
  if (slash === 0) {
    found.push('prefix part must not be empty');
  } else if (slash > 0) {
    found.push(...dns1123SubdomainProblems(value.slice(0, slash)).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') {
    found.push('name part must not be empty');
    return found;
  }
  found.push(
    ...problems(
      name,
      maxLabelLength,
      isQualifiedNamePart,
      "must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')",
    ).map((problem) => `name part ${problem}`),
  );
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
    isQualifiedNamePart,
    "must be empty, or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'my_value')",
  );
}

/** Port number that TCP can use, 1 to 65535. */
export function isPortNumber(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65535;
}
