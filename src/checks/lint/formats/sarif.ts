import { isAbsolute, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { printableJson } from '../../../base/index.ts';
import type { Format, FormatContext, LintError, LintFinding } from '../result.ts';

/** A file as SARIF requires it: a URI, relative for a relative path, so that code hosts find it in the repository. */
function uriOf(file: string): string {
  if (isAbsolute(file)) {
    return pathToFileURL(file).href;
  }
  const parts = file.split(sep).filter((part) => part !== '.');
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

function locationOf(place: LintFinding | LintError, field?: string) {
  const { file, line, column } = place;
  const end = 'endLine' in place ? { endLine: place.endLine, endColumn: place.endColumn } : {};
  return {
    physicalLocation: {
      artifactLocation: { uri: uriOf(file) },
      ...(line === undefined ? {} : { region: { startLine: line, startColumn: column ?? 1, ...end } }),
    },
    ...(field === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: field }] }),
  };
}

/** SARIF 2.1.0, which code hosts show as code scanning alerts. There is one run; results are printed as they arrive. */
export function sarifFormat({ version, rules }: FormatContext): Format {
  const indexes = new Map(rules.map(({ id }, index) => [id, index]));
  const driver = {
    name: 'extensionconfig-webhook',
    version,
    rules: rules.map(({ id, summary, severity, upstream }) => ({
      id,
      shortDescription: { text: summary },
      help: { text: `"extensionconfig-webhook rules ${id}" explains it with examples.` },
      defaultConfiguration: { level: severity === 'deny' ? 'error' : 'warning' },
      properties: { profile: upstream ? 'upstream' : 'strict' },
    })),
  };
  const notifications: object[] = [];
  let separator = '\n';
  return {
    begin: () =>
      `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":${printableJson({ driver })},"columnKind":"utf16CodeUnits","results":[`,
    object: ({ findings }) =>
      findings
        .map((finding) => {
          const result = {
            ruleId: finding.ruleId,
            ruleIndex: indexes.get(finding.ruleId) ?? -1,
            level: finding.severity === 'deny' ? 'error' : 'warning',
            message: { text: finding.message },
            locations: [locationOf(finding, finding.field)],
          };
          const text = `${separator}${printableJson(result)}`;
          separator = ',\n';
          return text;
        })
        .join(''),
    error(error) {
      notifications.push({ level: 'error', message: { text: error.message }, locations: [locationOf(error)] });
      return '';
    },
    end: ({ errors }) =>
      `\n],"invocations":[${printableJson({ executionSuccessful: errors === 0, toolExecutionNotifications: notifications })}]}]}\n`,
  };
}
