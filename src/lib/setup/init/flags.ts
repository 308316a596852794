import { boolean, string } from '@oclif/core/flags';

/** The answers of `steward init`, each as a flag. */
export const INIT_FLAGS = {
  yes: boolean({ char: 'y', description: 'Ask nothing: only what flags say is changed.' }),
  name: string({ description: 'Your name.', helpValue: 'NAME' }),
  'da-name': string({ description: 'What your assistant is called.', helpValue: 'NAME' }),
  voice: string({ description: 'Whether it speaks aloud.', options: ['on', 'mute', 'off'] }),
  'voice-id': string({ description: 'The voice id of your speech provider.', helpValue: 'ID' }),
  'repos-below': string({ description: 'Watch the repositories below this folder.', helpValue: 'DIR' }),
  repo: string({
    description: 'Watch this repository (may be repeated).',
    helpValue: 'PATH',
    multiple: true,
    multipleNonGreedy: true,
  }),
  sources: string({
    description: 'What is captured: all, none, or some of appFocus,git,agentSession.',
    helpValue: 'LIST',
  }),
  'work-repo': string({ description: 'Keep work as issues there. Asks GitHub.', helpValue: 'OWNER/REPO' }),
  'create-work-repo': boolean({
    description: 'Make that repository, private, where it is not there.',
    dependsOn: ['work-repo'],
  }),
  push: boolean({
    description: 'Push to your phone, with a new topic where there is none.',
    allowNo: true,
  }),
  'push-test': boolean({ description: 'Send a test message over push.' }),
  import: string({
    description: 'Take over the data of another system that lie in this folder.',
    helpValue: 'DIR',
  }),
  'dry-run': boolean({
    description: 'With --import: say what would be taken over, and write nothing.',
    dependsOn: ['import'],
  }),
  hooks: boolean({
    description: "Register steward's hooks with your assistant, or take them out.",
    allowNo: true,
  }),
  jobs: string({
    description: 'What the scheduler runs: all, none, or some of sense,insight,work,daemon.',
    helpValue: 'LIST',
  }),
};
