// The name formats of Kubernetes, as k8s.io/apimachinery/pkg/util/validation: a sentence for each problem of a value.

/** The annotation in which `kubectl apply` keeps what it applied. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

const dns1123Label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const dns1123Subdomain = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const dns1035Label = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/;
const qualifiedNamePart = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/** Longest label of a DNS name, in bytes (RFC 1035, 2.3.4). */
const maxLabelLength = 63;
/** Longest DNS subdomain that Kubernetes accepts, in bytes. */
const maxSubdomainLength = 253;

const none: readonly string[] = [];

function problems(value: string, maxBytes: number, format: RegExp, sentence: string): readonly string[] {
  const isOfFormat = format.test(value);
  if (isOfFormat && value.length <= maxBytes) {
    return none;
  }
  const tooLong = `must be no more than ${maxBytes} bytes`;
  if (isOfFormat) {
    return [tooLong];
  }
  // Kubernetes counts bytes, and characters beyond ASCII, which no format has, have several.
  return Buffer.byteLength(value) > maxBytes ? [tooLong, sentence] : [sentence];
}

const lowerCase = "must consist of lower case letters, digits and '-'";

const labelSentence = `${lowerCase}, and begin and end with a letter or digit (e.g. 'my-name')`;

/** RFC 1123 label: at most 63 lower case letters, digits and '-', begins and ends with a letter or digit. */
export const dns1123LabelProblems = (value: string): readonly string[] =>
  problems(value, maxLabelLength, dns1123Label, labelSentence);

const subdomainSentence =
  "must consist of lower case letters, digits, '-' and '.', and begin and end with a letter or digit (e.g. 'example.com')";

/** RFC 1123 subdomain: RFC 1123 labels joined by dots, at most 253 bytes. */
export const dns1123SubdomainProblems = (value: string): readonly string[] =>
  problems(value, maxSubdomainLength, dns1123Subdomain, subdomainSentence);

/** Why no object can have a name, which is part of a URL (apimachinery, IsValidPathSegmentName). An empty one is fine. */
export const pathSegmentProblem = (name: string): string | undefined =>
  name === '.' || name === '..'
    ? `may not be ${JSON.stringify(name)}`
    : /[/%]/.test(name)
      ? 'may not contain "/" or "%"'
      : Buffer.byteLength(name) > maxSubdomainLength
        ? `must be no more than ${maxSubdomainLength} bytes`
        : undefined;

const serviceSentence = `${lowerCase}, begin with a letter and end with a letter or digit (e.g. 'my-name')`;

/** RFC 1035 label, the format of a Service's name: like an RFC 1123 label, but it begins with a letter. */
export const dns1035LabelProblems = (value: string): readonly string[] =>
  problems(value, maxLabelLength, dns1035Label, serviceSentence);

const empty = ['must not be empty'];
const severalSlashes =
  "must be a name with an optional DNS subdomain prefix and one '/' between them (e.g. 'example.com/MyName')";
const namePartSentence =
  "must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')";
const labelValueSentence =
  "must be empty, or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'my_value')";

/** Key of a label or annotation: an optional DNS subdomain and '/', then a name of at most 63 bytes. */
export function qualifiedNameProblems(value: string): readonly string[] {
  const slash = value.indexOf('/');
  if (slash !== -1 && value.includes('/', slash + 1)) {
    return [severalSlashes];
  }
  const name = value.slice(slash + 1);
  const ofPrefix = slash === -1 ? none : slash === 0 ? empty : dns1123SubdomainProblems(value.slice(0, slash));
  const ofName = name === '' ? empty : problems(name, maxLabelLength, qualifiedNamePart, namePartSentence);
  return ofPrefix.length + ofName.length === 0
    ? none
    : [...ofPrefix.map((problem) => `prefix part ${problem}`), ...ofName.map((problem) => `name part ${problem}`)];
}

/** Value of a label: empty, or at most 63 bytes of letters, digits, '-', '_' and '.'. */
export const labelValueProblems = (value: string): readonly string[] =>
  value === '' ? none : problems(value, maxLabelLength, qualifiedNamePart, labelValueSentence);

const subdomainWords =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const namePartWords =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** Kubernetes' sentences for those above. */
const wordsOfKubernetes: Readonly<Record<string, string>> = {
  [labelSentence]:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  [subdomainSentence]: subdomainWords,
  [`prefix part ${subdomainSentence}`]: `prefix part ${subdomainWords}`,
  'prefix part must not be empty': 'prefix part must be non-empty',
  'name part must not be empty': 'name part must be non-empty',
  [`name part ${namePartSentence}`]: `name part ${namePartWords}`,
  [severalSlashes]: `a qualified name ${namePartWords} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
  [labelValueSentence]:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
};

/** A problem with a name, key or value of a label as API servers and Cluster API's webhooks word it. */
export const inWordsOfKubernetes = (problem: string): string => wordsOfKubernetes[problem] ?? problem;

/** Whether a number is a valid TCP port, 1 to 65535. */
export function isPortNumber(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65535;
}

/** The namespace and the name in NAMESPACE/NAME; undefined for anything else. */
export function namespacedNameIn(text: string): { namespace: string; name: string } | undefined {
  // A second slash cannot be part of a name.
  const slash = text.indexOf('/');
  const [namespace, name] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  return dns1123LabelProblems(namespace).length > 0 || dns1123SubdomainProblems(name).length > 0
    ? undefined
    : { namespace, name };
}
