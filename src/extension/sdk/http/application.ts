import type { Express, RequestHandler } from 'express';
import { createApplication, Refusal } from '../../../server/index.ts';
import { createHookRouter, discoveryPath } from './router.ts';

/** The application of an extension: its handlers below a prefix, which is empty or has a leading slash and no trailing one. */
export function createExtensionApplication(prefix: string, context: Parameters<typeof createHookRouter>[0]): Express {
  const application = createApplication();
  // What Express would read as a pattern is meant to the letter.
  application.use(prefix.replaceAll(/[{}()[\]+?!:*\\]/g, '\\$&') || '/', createHookRouter(context));
  const noSuchHandler: RequestHandler = ({ path }) => {
    context.log.warn({ path: path.slice(0, 512) }, 'call to a path that no handler has');
    throw new Refusal(
      404,
      `page not found: no handler of this extension has this path; ${prefix}${discoveryPath} lists them`,
    );
  };
  application.use(noSuchHandler, context.refuse);
  return application;
}
