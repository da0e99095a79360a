/**
 * The name formats of Kubernetes (RFC 1123, RFC 1035, qualified names, label values), with the same verdicts as
 * `k8s.io/apimachinery/pkg/util/validation`. Each function returns what is wrong, one sentence a problem; an empty
 * array means that the value is fine.
 */

const dns1123Label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const dns1123Subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const dns1035Label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedNamePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Longest label of a DNS name, in bytes (RFC 1035, 2.3.4). */
const maxLabelLength = 63;
/** Longest DNS subdomain that Kubernetes takes, in bytes. */
const maxSubdomainLength = 253;

const utf8 = new TextEncoder();

function problems(value: string, maxBytes: number, format: RegExp, sentence: string): string[] {
  const found: string[] = [];
  // Kubernetes counts bytes; a UTF-16 unit takes at most three.
  if (value.length > maxBytes || (value.length * 3 > maxBytes && utf8.encode(value).length > maxBytes)) {
    found.push(`must be no more than ${maxBytes} bytes`);
  }
  if (!format.test(value)) {
    found.push(sentence);
  }
  return found;
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

/** A qualified name that is fine whenever it is no longer than one label: both of its parts are then short enough. */
const shortQualifiedName =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Key of a label or annotation: an optional DNS subdomain and '/', then a name of at most 63 bytes. */
export function qualifiedNameProblems(value: string): string[] {
  if (value.length <= maxLabelLength && shortQualifiedName.test(value)) {
    return [];
  }
  const parts = value.split('/');
  const found: string[] = [];
  let name: string;
  if (parts.length === 1) {
    name = value;
  } else if (parts.length === 2) {
    const prefix = parts[0] as string;
    name = parts[1] as string;
    if (prefix === '') {
      found.push('prefix part must not be empty');
    } else {
      found.push(...dns1123SubdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
    }
  } else {
    return [
      "must be a name with an optional DNS subdomain prefix and one '/' between them (e.g. 'example.com/MyName')",
    ];
  }
  if (name === '') {
    found.push('name part must not be empty');
    return found;
  }
  found.push(
    ...problems(
      name,
      maxLabelLength,
      qualifiedNamePart,
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
    qualifiedNamePart,
    "must be empty, or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'my_value')",
  );
}

/** Port number that TCP can use, 1 to 65535. */
export function isPortNumber(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65535;
}
