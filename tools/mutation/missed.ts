// A reporter for Stryker that prints each fault that no test noticed, as soon as it is known.
import { relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import type { Reporter } from '@stryker-mutator/api/report';

class MissedReporter implements Reporter {
  onMutantTested({ fileName, location, mutatorName, replacement, status }: Readonly<MutantResult>): void {
    if (status === 'Survived' || status === 'NoCoverage' || status === 'Timeout') {
      const { line, column } = location.start;
      const text = (replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 100);
      process.stdout.write(`${relative('', fileName)}:${line}:${column} ${status} ${mutatorName}: ${text}\n`);
    }
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Reporter, 'missed', MissedReporter)];
