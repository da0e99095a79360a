import { LRUCache } from 'lru-cache';
import { type Bytes, bytesOf, quoted, textOf } from '../../base/go-text/index.ts';
import { type Json, perObject } from '../../kubernetes/index.ts';
import { NotKnown } from '../world/not-known.ts';
import { TemplateError, within } from './budget.ts';
import { evaluateTemplate } from './evaluate.ts';
import { builtins, functions, valueOfJson } from './functions/index.ts';
import { type ParsedTemplate, parseTemplate } from './language/parse.ts';
import { watchedData } from './own-words.ts';
import { readYaml } from './read-yaml.ts';
import type { Variables } from './variables.ts';

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

/** Functions that change their arguments: a template with one gets values of its own. */
const mutating = /\b(?:un)?set\b|\b(?:mustM|m)erge/;

/** All templates of a Cluster's class read the same variables. */
const dataOf = perObject(watchedData);

/** Ends the work with bytes: messages become text. */
function decoding<T>(before: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TemplateError) {
      error.message = `${before}${textOf(error.message)}`;
    }
    throw error;
  }
}

function render(purpose: 'enabledIf' | 'template', source: string, variables: Variables): Json {
  const text = bytesOf(source);
  return decoding(`failed to calculate value for ${purpose}: `, () => {
    const template = within(
      () => `failed to parse template: ${quoted(text)}`,
      () => parsed(text),
    );
    const data = within(
      () => 'failed to calculate template data: failed to convert variables: failed to unmarshal variables',
      () => (mutating.test(source) ? watchedData(variables) : dataOf(variables)),
    );
    const rendered = within(
      () => `failed to render template: ${quoted(text)}`,
      () => evaluateTemplate(template, data),
    );
    return within(
      () => `failed to unmarshal rendered template: ${quoted(rendered)}`,
      () => readYaml(rendered),
    );
  });
}

/**
 * The value of a patch with `valueFrom.template`: text/template with sprig's hermetic functions, read as YAML.
 *
 * @throws {TemplateError} with Cluster API's message; of what is no YAML, the reason may be worded differently.
 * @throws {NotKnown} where a template takes too much work, its result differs each time, or it needs what is not computed here.
 */
export const renderValueTemplate = (template: string, variables: Variables): Json =>
  render('template', template, variables);

/**
 * Whether a patch with this `enabledIf` applies: without one, and where its template renders to what YAML reads as true.
 *
 * @throws {TemplateError | NotKnown} as `renderValueTemplate`.
 */
export const isPatchEnabled = (enabledIf: string | undefined, variables: Variables): boolean =>
  enabledIf === undefined || enabledIf === '' || render('enabledIf', enabledIf, variables) === true;

/** Why Cluster API cannot parse a template, which it calls `name`; undefined if it can, or that takes too much work to know. */
export function parsingProblem(source: string, name: string): string | undefined {
  try {
    parsed(bytesOf(source));
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) {
      return textOf(error.message).replace(/^template: tpl:/, `template: ${name}:`);
    }
    if (error instanceof NotKnown) {
      return undefined;
    }
    throw error;
  }
}

/** Whether text/template itself has a function. */
const isBuiltin = (name: string): boolean => Object.hasOwn(builtins, name) || name === 'js' || name === 'slice';

/**
 * The name that a naming template makes (internal/topology/names, v1.14): text/template with its own functions only, and
 * fields that exist.
 *
 * @throws {TemplateError} with Cluster API's message.
 * @throws {NotKnown} where that takes too much work.
 */
export function renderName(source: string, fields: Json): string {
  const text = bytesOf(source);
  return decoding('', () => {
    const template = within(
      () => `parsing template ${quoted(text)}`,
      () => parseTemplate(text, 'template name generator', isBuiltin),
    );
    return within(
      () => 'rendering template',
      () => textOf(evaluateTemplate(template, valueOfJson(fields), true)),
    );
  });
}
