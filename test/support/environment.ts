/**
 * Variables of a user's shell that would affect programs started by tests: proxies for calls to loopback, colours where
 * a test reads plain text, npm without devDependencies, another cluster, flags of the program.
 */
const disturbing =
  /^((https?|all|no)_proxy|node_(env|options|debug|use_env_proxy)|debug|force_color|no_color|clicolor(_force)?|kubeconfig|kubernetes_\w+|extensionconfig_\w+|npm_config_(loglevel|omit|only|production|dry_run)|git_(dir|work_tree|index_file)|bash_env|zdotdir)$/i;

/** Removes from an environment what would make tests depend on the shell they are started from. */
export function withoutDisturbances(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) {
    if (disturbing.test(name)) {
      delete env[name];
    }
  }
}
