import { LRUCache } from 'lru-cache';
import { type Bytes, bytesOf, quoted, textOf } from '../../base/go-text/index.ts';
import { type Json, perObject } from '../../kubernetes/index.ts';
import { Budget, FunctionError, TemplateError } from './budget.ts';
import { evaluateTemplate } from './evaluate.ts';
import { functions, valueOfJson } from './functions/index.ts';
import { type ParsedTemplate, parseTemplate } from './language/parse.ts';
import { neitherIsSet, type Variables } from './variables.ts';
import { readYaml } from './yaml/read.ts';
import { YamlError } from './yaml/scan.ts';

/** Bytes of templates whose parsed form is kept: all of a few hundred large classes. */
const maxKeptBytes = 4_194_304;
const parsedTemplates = new LRUCache<Bytes, ParsedTemplate>({
  maxSize: maxKeptBytes,
  sizeCalculation: (_template, text) => text.length + 1,
});

/** Cluster API calls its templates tpl. */
function parsed(text: Bytes): ParsedTemplate {
  const template = parsedTemplates.get(text) ?? parseTemplate(text, 'tpl', (one) => functions.has(one));
  parsedTemplates.set(text, template);
  return template;
}

/** Passes an error on with what was tried, as Go wraps them. */
function wrapping<T>(context: () => Bytes, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TemplateError || error instanceof FunctionError) {
      throw new TemplateError(`${context()}: ${error.message}`);
    }
    if (error instanceof YamlError) {
      throw new TemplateError(`${context()}: error converting YAML to JSON: ${bytesOf(error.message)}`);
    }
    throw error;
  }
}

/** Functions that change their arguments: a template with one gets values of its own. */
const mutating = /\b(?:un)?set\b|\b(?:mustM|m)erge/;

/** All templates of a Cluster's class read the same variables. */
const dataOf = perObject((variables: Variables) => valueOfJson(variables));

function render(source: string, variables: Variables): Json {
  const text = bytesOf(source);
  const template = wrapping(
    () => `failed to parse template: ${quoted(text)}`,
    () => parsed(text),
  );
  const budget = new Budget();
  const data = wrapping(
    () => 'failed to calculate template data: failed to convert variables: failed to unmarshal variables',
    () => (mutating.test(source) ? valueOfJson(variables) : dataOf(variables)),
  );
  const rendered = wrapping(
    () => `failed to render template: ${quoted(text)}`,
    () => evaluateTemplate(template, data, budget),
  );
  return wrapping(
    () => `failed to unmarshal rendered template: ${quoted(rendered)}`,
    () => readYaml(rendered),
  );
}

/** Runs what throws errors whose message is bytes. */
function decoding<T>(context: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TemplateError) {
      throw new TemplateError(`${context}: ${textOf(error.message)}`);
    }
    throw error;
  }
}

/**
 * The value of a patch with `valueFrom.template`, as Cluster API computes it: text/template with sprig's hermetic functions,
 * read as YAML. A template is parsed once for all that are rendered in a row.
 *
 * @throws {TemplateError} with Cluster API's message; of what is no YAML, the reason may be worded differently. Also where a
 *   template takes too much work.
 */
export function renderValueTemplate(template: string, variables: Variables): Json {
  if (template === '') {
    throw new TemplateError(neitherIsSet);
  }
  return decoding('failed to calculate value for template', () => render(template, variables));
}

/**
 * Whether a patch with this `enabledIf` applies: without one, and where its template renders to what YAML reads as true.
 *
 * @throws {TemplateError} as `renderValueTemplate`.
 */
export function isPatchEnabled(enabledIf: string | undefined, variables: Variables): boolean {
  if (enabledIf === undefined || enabledIf === '') {
    return true;
  }
  return decoding('failed to calculate value for enabledIf', () => render(enabledIf, variables)) === true;
}
