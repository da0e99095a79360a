import { isAbsolute, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { count, type Paint, printableJson, withoutControls } from '../../base/index.ts';
import { apiVersionOf, hubVersion } from '../../extensionconfig/index.ts';
import { showPlace } from '../../kubernetes/manifests/index.ts';
import type { Rule } from '../../policy/index.ts';
import type { LintError, LintFinding, LintResult, LintSummary } from './result.ts';

interface FormatContext {
  version: string;
  rules: readonly Rule[];
  paint: Paint;
}

/** The text to print for a result as it arrives, and at the end for all of them. */
export interface Format {
  each?(result: LintResult, context: FormatContext): string;
  end(results: readonly LintResult[], summary: LintSummary, context: FormatContext): string;
}

const findingsIn = (results: readonly LintResult[]) =>
  results.flatMap((result) => ('object' in result ? result.object.findings : []));
const errorsIn = (results: readonly LintResult[]) =>
  results.flatMap((result) => ('error' in result ? result.error : []));

const level = { deny: 'error', warn: 'warning' } as const;
const style = { deny: 'red', warn: 'yellow' } as const;

/** How to fix a deprecated API version: the warning itself is the API server's, word for word. */
const hint = `To rewrite files in ${apiVersionOf(hubVersion)}: extensionconfig-webhook convert --to ${hubVersion} --write PATH\n`;

/** One line per finding: `file:line:column: error: message (rule)`. Errors are printed elsewhere. */
const text: Format = {
  each(result, { paint }) {
    const lines = findingsIn([result]).map(({ severity, message, ruleId, ...place }) => {
      const painted = paint(style[severity], level[severity]);
      return `${showPlace(place)}: ${painted}: ${withoutControls(message)} (${ruleId})\n`;
    });
    return lines.join('');
  },
  end: (results, { files, objects, denials, warnings, errors }) => {
    const isDeprecated = findingsIn(results).some(({ ruleId }) => ruleId === 'api-version-deprecated');
    return `${count(objects, 'ExtensionConfig')} in ${count(files, 'file')}: ${count(denials, 'error')}, ${count(warnings, 'warning')}${errors === 0 ? '' : `, ${count(errors, 'read error')}`}\n${isDeprecated ? hint : ''}`;
  },
};

/** One JSON object: `findings` (with file, line, column, object, rule …), `errors`, `summary`. */
const json: Format = {
  end(results, summary) {
    const findings = results.flatMap((result) => {
      if (!('object' in result)) {
        return [];
      }
      const { name, apiVersion, findings: own } = result.object;
      return own.map((finding) => ({ ...finding, object: { apiVersion, name } }));
    });
    return `${printableJson({ findings, errors: errorsIn(results), summary }, 1)}\n`;
  },
};

const escapeData = (value: string) =>
  value.split('\n').map(withoutControls).join('\n').replaceAll('%', '%25').replaceAll('\n', '%0A');
const escapeProperty = (value: string) => escapeData(value).replaceAll(':', '%3A').replaceAll(',', '%2C');

function workflowCommand(name: string, place: Omit<LintError, 'message'>, title: string, message: string): string {
  const { file, line, column } = place;
  const properties = Object.entries({ file, line, col: column, title })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
  return `::${name} ${properties.join(',')}::${escapeData(message)}\n`;
}

/** Workflow commands of GitHub Actions, which become annotations of lines. */
const github: Format = {
  each: (result) =>
    [
      ...findingsIn([result]).map(({ ruleId, severity, message, ...place }) =>
        workflowCommand(level[severity], place, ruleId, message),
      ),
      ...errorsIn([result]).map((error) => workflowCommand('error', error, 'unreadable', error.message)),
    ].join(''),
  end: (_, { objects, denials, warnings }) =>
    `${count(objects, 'ExtensionConfig')}: ${count(denials, 'error')}, ${count(warnings, 'warning')}\n`,
};

/** A file as SARIF requires it: a URI, relative for a relative path, so that code hosts find it in the repository. */
function uriOf(file: string): string {
  const parts = file.split(sep).filter((part) => part !== '.');
  return isAbsolute(file)
    ? pathToFileURL(file).href
    : parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
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

/** SARIF 2.1.0, which code hosts show as code scanning alerts. */
const sarif: Format = {
  end(results, { errors }, { version, rules }) {
    const indexes = new Map(rules.map(({ id }, index) => [id, index]));
    const driver = {
      name: 'extensionconfig-webhook',
      version,
      rules: rules.map(({ id, summary, severity, upstream }) => ({
        id,
        shortDescription: { text: summary },
        help: { text: `"extensionconfig-webhook rules ${id}" explains it with examples.` },
        defaultConfiguration: { level: level[severity] },
        properties: { profile: upstream ? 'upstream' : 'strict' },
      })),
    };
    const run = {
      tool: { driver },
      columnKind: 'utf16CodeUnits',
      results: findingsIn(results).map((finding) => ({
        ruleId: finding.ruleId,
        ruleIndex: indexes.get(finding.ruleId) ?? -1,
        level: level[finding.severity],
        message: { text: finding.message },
        locations: [locationOf(finding, finding.field)],
      })),
      invocations: [
        {
          executionSuccessful: errors === 0,
          toolExecutionNotifications: errorsIn(results).map((error) => ({
            level: 'error',
            message: { text: error.message },
            locations: [locationOf(error)],
          })),
        },
      ],
    };
    const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
    return `${printableJson({ $schema, version: '2.1.0', runs: [run] }, 1)}\n`;
  },
};

/** The formats of a report, by the name that --output takes. */
export const formats = { text, json, sarif, github } satisfies Record<string, Format>;
