"""Words at the head of columns, in the languages of the sheets that people send; as they are, not as stems.

Accents do not count (`reponse`), nor does a final `s`. Chinese, Japanese and Korean write several words as
one, so their compounds are here too. A word that means two things in its language is in none of the lists:
Dutch `modelantwoord`, German `Note`.
"""

import unicodedata


def bare(word: str) -> str:
    """Return a word without what does not count: case, accents and the `s` of a plural."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def _words(text: str) -> frozenset[str]:
    return frozenset(map(bare, text.split()))


QUESTION = _words(
    """question query prompt input utterance
    frage fragen kundenfrage nutzerfrage benutzerfrage anfrage eingabe
    requête pregunta preguntas consulta pergunta domanda domande quesito vraag vragen fråga frågor
    spørgsmål spørsmål kysymys pytanie zapytanie otázka dotaz întrebare kérdés soru ερώτηση
    вопрос запрос питання запитання سؤال السؤال پرسش प्रश्न सवाल คำถาม pertanyaan swali hỏi
    问题 問題 提问 用户问题 用戶問題 質問 問い 질문 사용자질문"""
)
ANSWER = _words(
    """answer response output reply completion prediction generation
    antwort antworten botantwort modellantwort systemantwort ausgabe
    réponse sortie respuesta salida resposta saída risposta risposte antwoord antwoorden uitvoer svar
    vastaus odpowiedź odpověď răspuns válasz cevap yanıt απάντηση
    ответ відповідь إجابة الإجابة جواب الجواب پاسخ उत्तर जवाब คำตอบ jawaban jibu trả lời
    回答 答案 回复 答复 模型回答 応答 答え 답변 응답 대답 모델답변"""
)
GOLD = _words(
    """reference gold golden ideal truth target solution goldstandard
    muster musterantwort musterlösung musterloesung sollantwort referenz referenzantwort lösung loesung
    référence corrigé referencia solución referência gabarito solução riferimento soluzione referentie
    referens facit referanse fasit mallivastaus wzorzec wzorcowa vzorová referință mintaválasz referans
    αναφορά эталон эталонный эталонная еталон еталонна مرجع المرجع النموذجية acuan rujukan referensi rejea
    参考答案 标准答案 正确答案 參考答案 標準答案 正確答案 正解 模範解答 期待回答 정답 모범답안 참조답변"""
)
RIGHT = _words(
    """expected correct expert right human true
    erwartet erwartete richtig richtige korrekt korrekte attendu attendue correcte bonne
    esperada esperado correcta correcto correta correto attesa atteso corretta corretto giusta
    verwacht verwachte juiste förväntat rätt forventet rigtig rigtigt korrekt riktig odotettu oikea
    oczekiwana poprawna prawidłowa očekávaná správná ожидаемый ожидаемая правильный правильная
    очікувана правильна beklenen doğru αναμενόμενη σωστή corectă corect helyes benar sahihi đúng"""
)
CONTEXTS = _words(
    """context passage document doc chunk source evidence snippet excerpt
    kontext kontexte quelle quellen textstelle textstellen fundstelle fundstellen textauszug auszug auszüge
    beleg belege dokument dokumente contexte extrait contexto fuente fragmento pasaje documento
    fonte trecho contesto brano bron fragment källa utdrag sammanhang kilde kontekst uddrag lähde
    źródło zdroj úryvek sursă forrás kaynak bağlam belge πηγή πλαίσιο контекст источник фрагмент документ
    джерело سياق السياق مصدر المصدر konteks sumber muktadha chanzo nguồn
    上下文 来源 來源 文档 文件 段落 文脈 コンテキスト 出典 문맥 출처 컨텍스트"""
)
SCORE = _words(
    """score label rating grade verdict mark judgement judgment assessment evaluation
    bewertung urteil punktzahl punkte évaluation notation puntuación calificación etiqueta pontuação avaliação
    punteggio valutazione voto beoordeling betyg bedömning ocena hodnocení оценка метка puan değerlendirme
    评分 分数 评价 評価 스코어 점수 평가"""
)
TEXT = _words("text content passage document body article page")
SPEAKER = _words(
    """model ai llm bot chatbot rag system assistant agent app gpt chatgpt claude gemini llama mistral
    modell modèle modelo modello assistent asistente assistente ki ia"""
)
"""Who answers: an application."""
USER = _words(
    """user customer client kunde kunden kundin nutzer benutzer anwender utilisateur cliente usuario usuário
    utilizador utente klant gebruiker kund användare kunde bruger bruker klienta użytkownika клиента
    пользователя"""
)
"""Who asks: what they say is no answer."""
IDLE = _words(
    """generated predicted final text actual our the a an of by from to used retrieved retrieval relevant top
    list full raw original given value der die das des dem den ein eine vom von zur zum de du la le les un une
    del el los las da do dos das di della dei il lo van het een av câu"""
)
# Only proposals count these: of a sentence at the head of a column they tell who speaks, and of what.
ASKS = _words("ask asks asked fragt fragte gefragt demande pregunta chiede")
SAYS = _words("say says said sagt sagte gesagt antwortet antwortete dit dijo disse dice")
FITS = _words("stimmt zutrifft")
ORIGIN = _words("woher")
