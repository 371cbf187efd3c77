import './styles/tokens.css';
import './styles/base.css';
import './styles/buttons.css';
import './styles/fields.css';
import './styles/lists.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { showTurns } from './lib/turned';

const target = document.getElementById('app');
if (target === null) throw new Error('index.html has no #app');
showTurns(document.body);
mount(App, { target });
